import type { Schemas } from '../../api/client.ts';

/** What a store says about one target. */
interface Said {
  status: number;
  auditTime: string | null;
}

/** A line of the comparison: one target or one figure, as each store has it; undefined: the store does not keep it. */
export interface Compared {
  key: string;
  kind: 'text' | 'picture' | 'reply' | 'pictures' | 'replies' | 'version';
  targetId: string | null;
  record: Said | number | undefined;
  index: Said | number | undefined;
  base: number | undefined;
  differs: boolean;
}

interface Target extends Said {
  id: string;
}

interface IndexRow extends Said {
  kind: Compared['kind'];
  targetId: string | null;
}

/** The three stores as tables of the same targets. What differs comes first. */
export function compare({ record, index, base }: Schemas['ReviewStores']): Compared[] {
  const rows = index as unknown as IndexRow[];
  const text = record.text as Said;
  const [pictures, replies] = [record.pictures as Target[], record.replies as Target[]];
  const figures = base as { status?: number; pictures?: number; replies?: number; version?: number };
  const inIndex = new Map(rows.map((row) => [`${row.kind} ${row.targetId ?? ''}`, row]));
  const target = (kind: 'text' | 'picture' | 'reply', targetId: string | null, said: Said | undefined): Compared => {
    const found = inIndex.get(`${kind} ${targetId ?? ''}`);
    const isText = kind === 'text';
    const differs = !isSame(said, found) || (isText && figures.status !== said?.status);
    return {
      ...{ key: `${kind} ${targetId ?? ''}`, kind, targetId, record: said, index: found, differs },
      base: isText ? figures.status : undefined,
    };
  };
  const count = (kind: 'pictures' | 'replies', of: 'picture' | 'reply', n: number): Compared => {
    const indexed = rows.filter((row) => row.kind === of).length;
    const differs = n !== indexed || n !== figures[kind];
    return { key: kind, kind, targetId: null, record: n, index: indexed, base: figures[kind], differs };
  };
  const known = new Set(['text ', ...pictures.map((p) => `picture ${p.id}`), ...replies.map((r) => `reply ${r.id}`)]);
  const only = rows.filter((row) => !known.has(`${row.kind} ${row.targetId ?? ''}`));
  const version = Number(record.version);
  const all = [
    target('text', null, text),
    ...pictures.map((p) => target('picture', p.id, p)),
    ...replies.map((r) => target('reply', r.id, r)),
    ...only.map((row) => target(row.kind as 'picture' | 'reply', row.targetId, undefined)),
    count('pictures', 'picture', pictures.length),
    count('replies', 'reply', replies.length),
    {
      ...{ key: 'version', kind: 'version' as const, targetId: null, record: version, index: undefined },
      ...{ base: figures.version, differs: version !== figures.version },
    },
  ];
  return all.sort((a, b) => Number(b.differs) - Number(a.differs));
}

const isSame = (a: Said | undefined, b: Said | undefined) => a?.status === b?.status && a?.auditTime === b?.auditTime;
