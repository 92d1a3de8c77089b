import type { FunctionComponent } from 'preact';
import { useLocation, useRoute } from 'preact-iso';
import { mayAct } from '../../api/session.ts';
import { Page } from '../../components/page.tsx';
import { isListKind, type ListKind, queuePath, READERS, withQuery } from '../../links.ts';
import { routes } from '../../routes.ts';
import { texts } from '../../texts/texts.ts';
import '../lists/lists.css';
import './numbers.css';
import { DEFAULTS, type FigureKind, RANGES, type Range, wantedIn } from './wanted.ts';

type Place = 'list' | 'numbers' | 'quality' | 'service' | 'settings' | 'desk';

/** As its settings call what has a list. */
const FOLDERS = { ticket: 'queue', job: 'topic', case: 'court' } as const;

/** Links between the pages about one queue, topic, court or group: its list, its figures, its settings and where people work. */
export function Ways({ kind, queue, at }: { kind: FigureKind; queue: string; at: Place }) {
  const { lists: t, pages, desk, jury } = texts.value;
  const list = isListKind(kind) && mayAct(...READERS[kind]) ? queuePath(kind, queue) : '';
  const sees = (of: 'quality' | 'service') => list !== '' && kind === 'ticket' && mayAct(...routes[of].roles);
  const [noun, name] = [FOLDERS[kind as ListKind], encodeURIComponent(queue)];
  const worksAt = (of: ListKind) => kind === of && mayAct('reviewer');
  const all: [Place, path: string | false, label: string][] = [
    ['list', list, isListKind(kind) ? texts.value.deliveries.kinds[kind] : ''],
    [
      'numbers',
      mayAct(...routes.numbers.roles) && withQuery('/numbers', { kind: kind !== DEFAULTS.kind && kind, queue }),
      t.overTime,
    ],
    ['quality', sees('quality') && `${list}/quality`, pages.quality],
    ['service', sees('service') && `${list}/service`, pages.service],
    ['settings', list !== '' && mayAct() && `/settings/${noun}s/${name}`, pages[`${noun}Settings`]],
    ['desk', worksAt('ticket') && `/desk/${name}`, desk.title(queue)],
    ['desk', worksAt('case') && `/jury/${name}`, jury.title(queue)],
  ];
  const links = all.filter(([place, path]) => path && place !== at);
  return links.map(([, path, label]) => (
    <a key={label} href={path || ''}>
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
    <Page title={`${pages[at]}: ${queue}`} actions={<Ways kind="ticket" queue={queue} at={at} />}>
      <ul class="list-states row lead plain" aria-label={t.range}>
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
