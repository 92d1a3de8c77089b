import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../components/dialog.tsx';
import { fieldKeys, isFree, shortcuts } from '../components/keys.ts';
import { texts } from '../texts/texts.ts';

const open = signal(false);

export const showHelp = () => {
  open.value = true;
};

/** What keys there are: everywhere, and on the page that is shown. `?` opens it. */
export function Help() {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      fieldKeys(event);
      if (event.key === '?' && isFree(event)) showHelp();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
  const t = texts.value.common.keys;
  const own = shortcuts.value;
  const close = () => {
    open.value = false;
  };
  return (
    <Dialog title={t.title} open={open.value} onClose={close}>
      <h3>{t.everywhere}</h3>
      <dl class="keys">
        <Key name="?" does={t.help} />
        <Key name="Tab" does={t.toContent} />
        <Key name="Esc" does={t.closeDialog} />
        <Key name="Ctrl + Enter" does={t.send} />
      </dl>
      {own.length > 0 && (
        <>
          <h3>{t.onThisPage}</h3>
          <dl class="keys">
            {own.map(({ key, does }) => (
              <Key key={key} name={key} does={does} />
            ))}
          </dl>
        </>
      )}
    </Dialog>
  );
}

function Key({ name, does }: { name: string; does: string }) {
  return (
    <div>
      <dt>
        <kbd>{name}</kbd>
      </dt>
      <dd>{does}</dd>
    </div>
  );
}
