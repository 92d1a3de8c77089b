import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { isAllowed } from './allowed.ts';
import { imageHosts } from './hosts.ts';
import { InertLink } from './outward.tsx';

/** Whether all images are revealed; each can be by itself. */
export const Revealed = createContext(false);

type State = 'hidden' | 'shown' | 'veiled' | 'failed';

/**
 * An image of another host: not loaded until someone reveals it, and blurred and grey when they hide it again. Of hosts that
 * the server does not allow, only the address is shown.
 */
export function Picture({ url }: { url: URL }) {
  const t = texts.value.body;
  const all = useContext(Revealed);
  const [state, setState] = useState<State>(all ? 'shown' : 'hidden');
  const reveal = () => setState('shown');
  const hide = () => setState((was) => (was === 'shown' ? 'veiled' : was));
  useEffect(() => (all ? reveal() : hide()), [all]);
  if (!isAllowed(url, imageHosts.value, location))
    return (
      <figure class="body-picture">
        <div class="body-veil">{t.notAllowed}</div>
        <figcaption>
          <InertLink url={url} text={url.href} />
        </figcaption>
      </figure>
    );
  const isSeen = state === 'shown';
  return (
    <figure class="body-picture">
      {state === 'hidden' || state === 'failed' ? (
        <div class="body-veil">{state === 'failed' ? t.failed : t.hidden}</div>
      ) : (
        <img
          class={isSeen ? '' : 'veiled'}
          src={url.href}
          alt={isSeen ? t.imageOf(url.host) : t.hidden}
          referrerpolicy="no-referrer"
          onError={() => setState('failed')}
        />
      )}
      <figcaption>
        <button type="button" aria-pressed={isSeen} onClick={isSeen ? hide : reveal}>
          {isSeen ? t.hide : t.reveal}
        </button>
        <InertLink url={url} text={url.host} />
      </figcaption>
    </figure>
  );
}
