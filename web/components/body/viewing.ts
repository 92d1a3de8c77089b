import { effect, signal } from '@preact/signals';
import { api, data, get } from '../../api/client.ts';
import { session } from '../../api/session.ts';

// How someone wants to see media: remembered for each person of this browser, and on the server for whoever signs in with a
// key of their own.

export const STARTS = ['hidden', 'blurred', 'shown'] as const;
export const SIZES = ['small', 'medium', 'large'] as const;

export interface Viewing {
  /** What an image is at first. `hidden`: not even loaded. */
  start: (typeof STARTS)[number];
  grey: boolean;
  size: (typeof SIZES)[number];
  /** A sound when work arrives. */
  sound: boolean;
}

const STORED = 'docket.viewing';
const PLAIN: Viewing = { start: 'hidden', grey: false, size: 'medium', sound: false };

function stored(): Record<string, Partial<Viewing>> {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? '{}') as Record<string, Partial<Viewing>>;
  } catch {
    return {};
  }
}

const all = signal(stored());

export const viewingOf = (person: string | null): Viewing => ({ ...PLAIN, ...all.value[person ?? ''] });

export function setViewing(person: string | null, change: Partial<Viewing>): void {
  keep(person, change);
  if (person !== null && session.value?.subject === person)
    data(api.PUT('/v1/session/defaults', { body: { defaults: { ...viewingOf(person) } } })).catch(() => {});
}

function keep(person: string | null, change: Partial<Viewing>): void {
  // another tab may have changed another person's meanwhile
  all.value = { ...stored(), [person ?? '']: { ...viewingOf(person), ...change } };
  localStorage.setItem(STORED, JSON.stringify(all.value));
}

effect(() => {
  const person = session.value?.subject ?? null;
  if (person !== null && session.value?.role === 'reviewer')
    get('/v1/session/defaults', {}).then(
      ({ defaults }) => keep(person, defaults),
      () => {},
    );
});

/** One of several images, and how it lies in its frame. */
export interface Framed {
  n: number;
  zoom: number;
  /** In degrees. */
  turn: number;
  x: number;
  y: number;
}

export const AT_REST = { zoom: 1, turn: 0, x: 0, y: 0 };
const STEP_PX = 60;
export const zoomed = (view: Framed, by: number): Framed => ({
  ...view,
  zoom: Math.min(16, Math.max(0.25, view.zoom * by)),
});

/** What a key does to the view of `count` images; null: nothing. */
export function framedBy(key: string, view: Framed, count: number): Framed | null {
  const go = (by: number): Framed => ({ ...AT_REST, n: (view.n + by + count) % count });
  switch (key) {
    case 'ArrowRight':
      return go(1);
    case 'ArrowLeft':
      return go(-1);
    case '+':
    case '=':
      return zoomed(view, 1.25);
    case '-':
      return zoomed(view, 0.8);
    case '0':
      return { ...view, ...AT_REST };
    case 'r':
      return { ...view, turn: (view.turn + 90) % 360 };
    case 'ArrowUp':
    case 'ArrowDown':
      return { ...view, y: view.y + (key === 'ArrowUp' ? STEP_PX : -STEP_PX) };
    case 'a':
    case 'd':
      return { ...view, x: view.x + (key === 'a' ? STEP_PX : -STEP_PX) };
    default:
      return null;
  }
}

const SEEK_S = 5;
const FRAME_S = 1 / 25;
const SPEEDS = [0.25, 0.5, 1, 1.5, 2, 4];

export interface Played {
  paused: boolean;
  currentTime: number;
  playbackRate: number;
}

/** What a key does to a video or a sound; null: nothing. A frame is seen while it stands still. */
export function playedBy(key: string, at: Played): Partial<Played> | null {
  const speed = SPEEDS.findIndex((one) => one >= at.playbackRate);
  switch (key) {
    case 'p':
    case ' ':
      return { paused: !at.paused };
    case 'j':
    case 'l':
      return { currentTime: Math.max(0, at.currentTime + (key === 'l' ? SEEK_S : -SEEK_S)) };
    case ',':
    case '.':
      return { paused: true, currentTime: Math.max(0, at.currentTime + (key === '.' ? FRAME_S : -FRAME_S)) };
    case '<':
    case '>':
      return { playbackRate: SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, speed + (key === '>' ? 1 : -1)))] ?? 1 };
    default:
      return null;
  }
}
