import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/resource.ts';
import { Body } from '../../components/body/body.tsx';
import { moment } from '../../components/format.ts';
import { Loaded, Section } from '../../components/page.tsx';
import { More } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { isAbout, type PartKind, placeOf } from './sources.ts';

type Event = Schemas['TicketEvent'];

const EVENTS = 100;

/** What happened to an item, oldest first, and what happens while someone looks. */
export function Timeline({ kind, id }: { kind: Exclude<PartKind, 'review'>; id: string }) {
  const t = texts.value.items;
  const { at, path } = placeOf(kind, id, 'events');
  const events = useList(at, { path, query: { limit: EVENTS } }, isAbout(kind, id));
  return (
    <Section title={t.timeline}>
      <Loaded of={events}>
        {(rows) => (
          <>
            <ol class="timeline panel-body plain">
              {rows.map((event) => (
                <Entry key={event.seq} event={event} />
              ))}
            </ol>
            <More more={events.more} of={t.timeline} />
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Entry({ event: { type, actor, at, data } }: { event: Event }) {
  const t = texts.value.items;
  return (
    <li>
      <p>
        <strong>{t.events[type] ?? t.states[type] ?? type}</strong> <span class="muted">{t.by}</span> <bdi>{actor}</bdi>
      </p>
      <time dateTime={at} class="muted">
        {moment(at)}
      </time>
      <Data data={data} />
    </li>
  );
}

/** An event's figures in a line; what is deeper as a tree. */
function Data({ data }: { data: unknown }) {
  const { fields, data: others, reasons } = texts.value.items;
  const { yes, no } = texts.value.common;
  const words: Record<string, string> = { ...fields, ...others };
  if (data === null) return null;
  if (typeof data !== 'object' || Array.isArray(data)) return <Body value={data} />;
  const entries = Object.entries(data).filter(([, value]) => value !== null);
  const deep = entries.filter(([, value]) => typeof value === 'object');
  const flat = entries.filter(([, value]) => typeof value !== 'object');
  return (
    <>
      {flat.length > 0 && (
        <p class="timeline-data row">
          {flat.map(([name, value]) => (
            <span key={name}>
              <span class="muted">{words[name] ?? name}</span>{' '}
              <bdi>
                {typeof value === 'boolean'
                  ? value
                    ? yes
                    : no
                  : (name === 'reason' && reasons[String(value)]) || String(value)}
              </bdi>
            </span>
          ))}
        </p>
      )}
      {deep.length > 0 && <Body value={Object.fromEntries(deep)} />}
    </>
  );
}
