import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { session } from '../../api/session.ts';
import { texts } from '../../texts/texts.ts';
import { personAt } from '../person.tsx';
import { imageHosts, isAllowed } from './hosts.ts';
import { InertLink } from './outward.tsx';
import { Shown } from './shown.ts';
import type { MediaKind } from './text.ts';
import { type Played, playedBy, viewingOf } from './viewing.ts';

type State = 'hidden' | 'shown' | 'blurred' | 'failed';

/**
 * An image, video or sound of another host, or of the body itself: not loaded until someone reveals it or wants all at
 * once, and blurred when they hide it again. Of hosts that the server does not allow, only the address is shown.
 */
export function Media({ kind, url }: { kind: MediaKind; url: URL }) {
  const t = texts.value.body;
  const { revealed: all, enlarge } = useContext(Shown);
  const { start, grey, size } = viewingOf(personAt(session.value));
  const [state, setState] = useState<State>(all ? 'shown' : start);
  const reveal = () => setState('shown');
  const hide = () => setState((was) => (was === 'shown' ? 'blurred' : was));
  const before = useRef(all);
  useEffect(() => {
    if (before.current !== all) all ? reveal() : hide();
    before.current = all;
  }, [all]);
  if (!isAllowed(url, imageHosts.value, location))
    return (
      <figure class="body-media stack">
        <div class="body-veil">{t.notAllowed}</div>
        <figcaption class="row">
          <InertLink url={url} text={url.href} />
        </figcaption>
      </figure>
    );
  const isSeen = state === 'shown';
  const shared = {
    class: [isSeen ? '' : 'veiled', grey || !isSeen ? 'grey' : ''].join(' ').trim(),
    src: url.href,
    onError: () => setState('failed'),
  };
  const what = isSeen ? t.of[kind](url.host || t.thisContent) : t.hidden[kind];
  return (
    <figure class={`body-media stack ${size}`}>
      {state === 'hidden' || state === 'failed' ? (
        <div class="body-veil">{state === 'failed' ? t.failed : t.hidden[kind]}</div>
      ) : kind === 'image' ? (
        <img {...shared} alt={what} referrerpolicy="no-referrer" data-picture={isSeen ? 'seen' : 'veiled'} />
      ) : (
        <Player kind={kind} label={what} shared={shared} />
      )}
      <figcaption class="row">
        <button type="button" aria-pressed={isSeen} onClick={isSeen ? hide : reveal}>
          {isSeen ? t.hide[kind] : t.reveal[kind]}
        </button>
        {kind === 'image' && isSeen && (
          <button type="button" class="body-enlarge" onClick={() => enlarge(url.href)}>
            {t.enlarge}
          </button>
        )}
        {url.host && <InertLink url={url} text={url.host} />}
      </figcaption>
    </figure>
  );
}

interface PlayerProps {
  kind: 'video' | 'audio';
  label: string;
  shared: { class: string; src: string; onError: () => void };
}

/** Never heard before someone wants to: it is muted until they say otherwise. */
function Player({ kind: Tag, label, shared }: PlayerProps) {
  const pressed = (event: preact.TargetedKeyboardEvent<HTMLMediaElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const change = playedBy(event.key, event.currentTarget);
    if (!change) return;
    event.preventDefault();
    event.stopPropagation();
    play(event.currentTarget, change);
  };
  return (
    <Tag
      {...shared}
      // a stream of captions is nothing that a body has
      aria-label={`${label}. ${texts.value.body.playerKeys}`}
      controls
      muted
      playsInline
      preload="metadata"
      onKeyDown={pressed}
    />
  );
}

/** @param change what a key does to it */
export function play(media: HTMLMediaElement, { paused, currentTime, playbackRate }: Partial<Played>): void {
  if (currentTime !== undefined) media.currentTime = Math.min(currentTime, media.duration || currentTime);
  if (playbackRate !== undefined) media.playbackRate = playbackRate;
  if (paused) media.pause();
  // a browser that does not want to says so by itself, in its controls
  else if (paused === false) void media.play().catch(() => {});
}
