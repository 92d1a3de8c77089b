/** A part of a text from anywhere. */
export type Segment =
  | { kind: 'text'; text: string }
  /** An address, as the browser would go to it; shown, never followed by itself. */
  | { kind: 'link'; text: string; url: URL }
  /** Invisible characters that could make the text read as another one. */
  | { kind: 'marks'; code: string; times: number };

// joiners belong to scripts and emoji, soft hyphens to words
const MARK = '(?![\\n\\t\\u00ad\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]';
const LINK = '\\bhttps?://[^\\s\\p{Cc}\\p{Cf}<>"\'`{}|\\\\^\\[\\]，。；：！？、（）《》「」]+';
const SPECIAL = new RegExp(`(?<link>${LINK})|(?<mark>${MARK})`, 'giu');
/** What ends a sentence and is seldom meant as a part of an address. */
const TRAILING = /[.,;:!?)]+$/;

/** Text, addresses, and marks of invisible characters such as U+202E, which turns the direction of writing. */
export function segmentsOf(given: string): Segment[] {
  const text = given.replaceAll('\r\n', '\n');
  const found: Segment[] = [];
  let at = 0;
  const plain = (until: number) => {
    if (until > at) found.push({ kind: 'text', text: text.slice(at, until) });
    at = until;
  };
  for (const match of text.matchAll(SPECIAL)) {
    if (match.index < at) continue;
    const { link, mark } = match.groups ?? {};
    const shown = link?.replace(TRAILING, '');
    const url = shown ? httpUrl(shown) : null;
    if (mark === undefined && !url) continue;
    plain(match.index);
    if (mark !== undefined) pushMark(found, mark);
    else if (shown && url) found.push({ kind: 'link', text: shown, url });
    at += (mark ?? shown ?? '').length;
  }
  plain(text.length);
  return found;
}

function pushMark(found: Segment[], mark: string): void {
  const code = `U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const last = found.at(-1);
  if (last?.kind === 'marks' && last.code === code) last.times++;
  else found.push({ kind: 'marks', code, times: 1 });
}

/** An address of the web; null for all else, such as `javascript:`. */
function httpUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url && /^https?:$/.test(url.protocol) ? url : null;
}

export type MediaKind = 'image' | 'video' | 'audio';

const ENDINGS: readonly [MediaKind, RegExp][] = [
  ['image', /\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i],
  ['video', /\.(mp4|m4v|mov|webm|ogv)$/i],
  ['audio', /\.(mp3|m4a|ogg|oga|opus|wav|flac|aac)$/i],
];
const NAMES: readonly [MediaKind, RegExp][] = [
  ['image', /image|img|photo|picture|avatar|thumbnail|cover|screenshot|图/i],
  ['video', /video|clip|视频/i],
  ['audio', /audio|voice|sound|recording|音频|语音/i],
];

/** An image, a video or a sound that stands in the body itself. */
const INLINE = /^data:(image|video|audio)\/[\w.+-]+(?:;[\w=-]+)*,\S*$/;

/** An image, a video or a sound: by its own type, by how its address ends, or by the name of its field; null: it is none. */
export function mediaOf(text: string, field: string): { kind: MediaKind; url: URL } | null {
  const inline = INLINE.exec(text)?.[1];
  if (inline) return { kind: inline as MediaKind, url: new URL(text) };
  const url = /^https?:\/\/\S+$/i.test(text) ? httpUrl(text) : null;
  const found =
    url && (ENDINGS.find(([, end]) => end.test(url.pathname)) ?? NAMES.find(([, name]) => name.test(field)));
  return url && found ? { kind: found[0], url } : null;
}

const literal = (word: string) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
/** These put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const LETTER = '[\\p{L}\\p{N}]';
const whole = (word: string) => (UNSPACED.test(word) ? literal(word) : `(?<!${LETTER})${literal(word)}(?!${LETTER})`);

/**
 * What cuts texts, in any case, at each place where a word stands that someone looks for, or as a whole one of the
 * highlighted: every second part is one.
 */
export function cutter(word: string, highlight: readonly string[]): (text: string) => string[] {
  const wanted = [...(word === '' ? [] : [literal(word)]), ...highlight.map(whole)];
  if (wanted.length === 0) return (text) => [text];
  const pattern = new RegExp(`(${wanted.join('|')})`, 'giu');
  return (text) => text.split(pattern);
}
