import type { FunctionComponent } from 'preact';
import { useLocation, useRoute } from 'preact-iso';
import { mayAct } from '../../api/session.ts';
import { Page } from '../../components/page.tsx';
import { isListKind, queuePath, READERS, withQuery } from '../../links.ts';
import { routes } from '../../routes.ts';
import { texts } from '../../texts/texts.ts';
import '../lists/lists.css';
import './numbers.css';
import { DEFAULTS, type FigureKind, RANGES, type Range, wantedIn } from './wanted.ts';

type Place = 'list' | 'numbers' | 'quality' | 'service';

/** Links between the pages about one queue, topic, court or group: its list, and its figures. */
export function Ways({ kind, queue, at }: { kind: FigureKind; queue: string; at: Place }) {
  const { lists: t, pages } = texts.value;
  const list = isListKind(kind) && mayAct(...READERS[kind]) ? queuePath(kind, queue) : '';
  const sees = (of: 'quality' | 'service') => list !== '' && kind === 'ticket' && mayAct(...routes[of].roles);
  const all: [Place, path: string | false, label: string][] = [
    ['list', list, isListKind(kind) ? texts.value.deliveries.kinds[kind] : ''],
    [
      'numbers',
      mayAct(...routes.numbers.roles) && withQuery('/numbers', { kind: kind !== DEFAULTS.kind && kind, queue }),
      t.overTime,
    ],
    ['quality', sees('quality') && `${list}/quality`, pages.quality],
    ['service', sees('service') && `${list}/service`, pages.service],
  ];
  const links = all.filter(([place, path]) => path && place !== at);
  return links.map(([place, path, label]) => (
    <a key={place} href={path || ''}>
      {label}
    </a>
  ));
}

export interface OfQueue {
  queue: string;
  range: Range;
}

/** A page about a queue's tickets over a time, which the address names. */
export const overTime = (at: 'quality' | 'service', Shown: FunctionComponent<OfQueue>) => () => {
  const { path, query } = useLocation();
  const queue = useRoute().params.queue ?? '';
  const { range } = wantedIn(query);
  const { pages, numbers: t } = texts.value;
  return (
    <Page title={`${pages[at]} ${queue}`} actions={<Ways kind="ticket" queue={queue} at={at} />}>
      <ul class="list-states row inset plain" aria-label={t.range}>
        {(Object.keys(RANGES) as Range[]).map((one) => (
          <li key={one}>
            <a href={`${path}?range=${one}`} aria-current={one === range ? 'true' : undefined}>
              {t.ranges[one]}
            </a>
          </li>
        ))}
      </ul>
      <Shown key={`${range} ${queue}`} queue={queue} range={range} />
    </Page>
  );
};

/** Where what a page shows is set; for those who may not, whom to ask. */
export function ToSettings({ queue }: { queue: string }) {
  const t = texts.value.numbers;
  if (!mayAct(...routes.queueSettings.roles)) return <span class="muted">{t.askAdmin}</span>;
  return <a href={`/settings/queues/${encodeURIComponent(queue)}`}>{t.toSettings}</a>;
}
