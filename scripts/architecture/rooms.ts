/** One file of services/ imports another; both from the root, with `/`. */
export interface Import {
  from: string;
  to: string;
}

const MAX_ROOMS = 12;
const MAX_ARROWS = 30;
const MAX_FLOORS = 5;

/** The folder of services/ in which a file is; undefined for the files that put the rooms together. */
const roomOf = (path: string): string | undefined => /^services\/([^/]+)\//.exec(path)?.[1];

/**
 * Checks that the rooms of services/ stay few and import each other in few directions: without circles between rooms,
 * and with `shared` at the bottom. A floor is a step of the longest way down.
 */
export function checkRooms(imports: Import[]): string[] {
  const below = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [room, other] = [roomOf(from), roomOf(to)];
    if (room === undefined || other === undefined) continue;
    for (const each of [room, other]) if (!below.has(each)) below.set(each, new Set());
    if (room !== other) below.get(room)?.add(other);
  }
  const circle = circleIn(below);
  if (circle) return [`services/: rooms in a circle, ${circle.join(' → ')}: move what both need to a lower room`];
  const arrows = [...below.values()].reduce((sum, { size }) => sum + size, 0);
  const floors = Math.max(0, ...[...below.keys()].map((room) => floorOf(room, below)));
  return [
    ...[...(below.get('shared') ?? [])].map((room) => `services/shared imports services/${room}: shared is the lowest`),
    ...tooMany('rooms', below.size, MAX_ROOMS),
    ...tooMany('arrows between rooms', arrows, MAX_ARROWS),
    ...tooMany('floors', floors, MAX_FLOORS),
  ];
}

const tooMany = (what: string, n: number, most: number): string[] =>
  n <= most ? [] : [`services/ has ${n} ${what}; at most ${most}`];

const floorOf = (room: string, below: Map<string, Set<string>>): number =>
  1 + Math.max(0, ...[...(below.get(room) ?? [])].map((other) => floorOf(other, below)));

function circleIn(below: Map<string, Set<string>>): string[] | undefined {
  const done = new Set<string>();
  const walk = (room: string, way: string[]): string[] | undefined => {
    if (way.includes(room)) return [...way.slice(way.indexOf(room)), room];
    if (done.has(room)) return undefined;
    for (const other of below.get(room) ?? []) {
      const circle = walk(other, [...way, room]);
      if (circle) return circle;
    }
    done.add(room);
    return undefined;
  };
  for (const room of below.keys()) {
    const circle = walk(room, []);
    if (circle) return circle;
  }
  return undefined;
}
