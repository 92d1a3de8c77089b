import { useContext } from 'preact/hooks';
import { texts } from '../../texts/texts.ts';
import { Copied } from '../copied.tsx';
import { Dialog } from '../dialog.tsx';
import { Button } from '../page.tsx';
import { Shown } from './shown.ts';

/** An address in a text: a button that shows where it leads. */
export function InertLink({ url, text }: { url: URL; text: string }) {
  const { ask } = useContext(Shown);
  return (
    <button type="button" class="body-link" onClick={() => ask(url)}>
      {text}
    </button>
  );
}

/** Where an address leads, and the only way there. */
export function OutwardDialog({ url, close }: { url: URL | null; close: () => void }) {
  const t = texts.value.body;
  const actions = url && (
    <>
      <Button does={texts.value.common.cancel} run={close} />
      <a class="button" href={url.href} target="_blank" rel="noopener noreferrer" onClick={close}>
        {t.open}
      </a>
    </>
  );
  return (
    <Dialog title={t.leaving} open={url !== null} onClose={close} actions={actions}>
      <p>{t.leavingHint}</p>
      <p>
        <strong>{url?.host}</strong>
      </p>
      <Copied label={t.address} text={url?.href ?? ''} />
    </Dialog>
  );
}
