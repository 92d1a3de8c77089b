import { useId, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Dialog } from '../../components/dialog.tsx';
import { NameField } from '../../components/name-field.tsx';
import { texts } from '../../texts/texts.ts';

/** Asks for a name and goes to its settings; nothing is made before they are saved. */
export function NewOne({ label, folder, hint }: { label: string; folder: string; hint: string }) {
  const t = texts.value;
  const form = useId();
  const [open, setOpen] = useState(false);
  const [name, setName] = useState('');
  const { route } = useLocation();
  const go = (event: SubmitEvent) => {
    event.preventDefault();
    route(`/settings/${folder}/${encodeURIComponent(name.trim())}`);
  };
  const actions = (
    <>
      <button type="button" onClick={() => setOpen(false)}>
        {t.common.cancel}
      </button>
      <button type="submit" form={form} class="primary" disabled={name.trim() === ''}>
        {t.settings.go}
      </button>
    </>
  );
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {label}
      </button>
      <Dialog title={label} open={open} onClose={() => setOpen(false)} actions={actions}>
        <form id={form} onSubmit={go}>
          <NameField label={t.common.name} hint={hint} value={name} onChange={setName} />
        </form>
      </Dialog>
    </>
  );
}
