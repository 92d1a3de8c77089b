import { useLocation } from 'preact-iso';
import type { Schemas } from '../../api/client.ts';
import { type Resource, useList, useResource } from '../../api/resource.ts';
import { useStream } from '../../api/stream.ts';
import { Action } from '../../components/action.tsx';
import { number, span } from '../../components/format.ts';
import { Button, Empty, Loaded, Section } from '../../components/page.tsx';
import { PersonPage } from '../../components/person.tsx';
import { type Column, Listing } from '../../components/table.tsx';
import { texts } from '../../texts/texts.ts';
import { decline, invitationsOf } from './calls.ts';
import './jury.css';
import { LeaseTime } from '../../components/when.tsx';

const INVITATIONS_MS = 15_000;

type Invitation = Schemas['Invitations']['items'][number];

/** Where a juror sees to what they are invited, and chooses a court. */
export function JuryCourts() {
  const { jury, pages } = texts.value;
  return (
    <PersonPage title={pages.jury} hint={jury.whoHint}>
      {(juror) => [<Invitations key={juror} juror={juror} />, <Courts key="courts" />]}
    </PersonPage>
  );
}

function Invitations({ juror }: { juror: string }) {
  const t = texts.value.jury.invitations;
  const list: Resource<Invitation[]> = useResource((signal) => invitationsOf(juror, signal), [juror], {
    everyMs: INVITATIONS_MS,
  });
  useStream({ juror }, { onEvent: list.refresh, onOpen: list.refresh });
  return (
    <Section title={texts.value.courtSettings.assign[0]}>
      <Loaded of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{t.none}</Empty>
          ) : (
            <ul class="jury-invitations plain">
              {rows.map((one) => (
                <Invited key={one.token} invitation={one} changed={list.refresh} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function Invited({ invitation, changed }: { invitation: Invitation; changed: () => void }) {
  const t = texts.value.jury.invitations;
  const { route } = useLocation();
  const { court, token } = invitation;
  return (
    <li class="row bar">
      <span>
        <strong>{court}</strong> <span class="muted">{t.of(invitation.case)}</span>{' '}
        <LeaseTime expiresMs={Date.parse(invitation.expiresAt)} />
      </span>
      <span class="actions">
        <Button does={t.accept} run={() => route(`/jury/${encodeURIComponent(court)}`)} look="primary" />
        <Action
          label={t.decline}
          title={t.declineTitle}
          will={t.declineHint}
          run={() => decline(invitation.case, token)}
          onDone={changed}
        />
      </span>
    </li>
  );
}

function Courts() {
  const { jury: t, common } = texts.value;
  const list = useList('/v1/courts', {});
  const window = ({ window }: Schemas['Court']) =>
    window ? t.windowOf(number(window.cases), span(window.seconds)) : '–';
  const columns: Column<Schemas['Court']>[] = [
    { title: common.name, cell: ({ name }) => <a href={`/jury/${encodeURIComponent(name)}`}>{name}</a> },
    { title: t.columns.mode, cell: ({ mode }) => t.modes[mode ?? 'claim'] },
    { title: t.columns.window, cell: window },
    {
      title: t.columns.day,
      numeric: true,
      cell: ({ votesPerDay }) => ((votesPerDay ?? null) === null ? '–' : number(votesPerDay ?? 0)),
    },
  ];
  return <Listing title={t.courts} list={list} columns={columns} empty={t.noCourts} />;
}
