import { useEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { Dialog } from '../dialog.tsx';
import { number, percent } from '../format.ts';
import { AT_REST, type Framed, framedBy, zoomed } from './viewing.ts';

/** An image that has been loaded, and whether someone has revealed it. */
export interface Picture {
  src: string;
  seen: boolean;
}

interface Props {
  pictures: readonly Picture[];
  /** Which is shown first; null: none, it is closed. */
  at: number | null;
  close: () => void;
}

/** One image after the other, as large as the window: zoomed, moved and turned by keys, wheel and pointer. */
export function Viewer({ pictures, at, close }: Props) {
  const t = texts.value.body;
  return (
    <Dialog title={t.viewer} open={at !== null} onClose={close} actions={false} look="viewer">
      {at !== null && <Frame pictures={pictures} at={at} close={close} />}
    </Dialog>
  );
}

function Frame({ pictures, at, close }: Props & { at: number }) {
  const t = texts.value.body;
  const [view, setView] = useState<Framed>({ ...AT_REST, n: at });
  const [unveiled, unveil] = useState<readonly number[]>([]);
  const box = useRef<HTMLDivElement>(null);
  const { src, seen } = pictures[view.n] ?? { src: '', seen: true };
  const isSeen = seen || unveiled.includes(view.n);
  const press = (key: string) => setView((now) => framedBy(key, now, pictures.length) ?? now);
  const keys: [key: string, label: string, run: () => void][] = [
    ['ArrowLeft', t.previous, () => press('ArrowLeft')],
    ['ArrowRight', t.next, () => press('ArrowRight')],
    ['+', t.zoomIn, () => press('+')],
    ['-', t.zoomOut, () => press('-')],
    ['r', t.turn, () => press('r')],
    ['0', t.reset, () => press('0')],
    ['f', t.fullScreen, () => fullScreen(box.current)],
    ['i', t.reveal.image, () => unveil((others) => [...others, view.n])],
  ];
  const shown = keys.filter(([key]) => (key === 'i' ? !isSeen : !key.startsWith('Arrow') || pictures.length > 1));
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const own = keys.find(([key]) => key === event.key);
    if (own) own[2]();
    else if (framedBy(event.key, view, pictures.length)) press(event.key);
    else return;
    event.preventDefault();
  };
  useEffect(() => box.current?.focus(), []);
  const { turn, zoom, x, y } = view;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: each key has a button of its own below
    <div class="viewer-box" ref={box} tabIndex={-1} onKeyDown={pressed}>
      <div
        class="viewer-frame"
        onWheel={(event) => {
          event.preventDefault();
          setView((now) => zoomed(now, event.deltaY < 0 ? 1.1 : 1 / 1.1));
        }}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={({ buttons, movementX, movementY }) =>
          buttons > 0 && setView((now) => ({ ...now, x: now.x + movementX, y: now.y + movementY }))
        }
      >
        <img
          class={isSeen ? '' : 'veiled grey'}
          src={src}
          alt={isSeen ? t.of.image(new URL(src).host) : t.hidden.image}
          referrerpolicy="no-referrer"
          draggable={false}
          style={{ transform: `translate(${x}px, ${y}px) rotate(${turn}deg) scale(${zoom})` }}
        />
      </div>
      <div class="actions">
        {shown.map(([key, label, run]) => (
          <button key={key} type="button" onClick={run}>
            {label} <kbd>{key.replace('ArrowLeft', '←').replace('ArrowRight', '→')}</kbd>
          </button>
        ))}
        <output>
          {number(view.n + 1)} / {number(pictures.length)} · {percent(zoom)}
        </output>
        <button type="button" onClick={close}>
          {texts.value.common.close} <kbd>Esc</kbd>
        </button>
      </div>
    </div>
  );
}

function fullScreen(box: HTMLElement | null): void {
  const asked = document.fullscreenElement ? document.exitFullscreen() : box?.requestFullscreen();
  // a browser that has none stays as it is
  void asked?.catch(() => {});
}
