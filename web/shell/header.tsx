import { useState } from 'preact/hooks';
import { connection } from '../api/connection.ts';
import { session } from '../api/session.ts';
import { signOut } from '../api/signing.ts';
import { Select } from '../components/field.tsx';
import { Button, saidOf } from '../components/page.tsx';
import { toast } from '../components/toasts.tsx';
import { LANGUAGES, type Language, language, setLanguage, texts } from '../texts/texts.ts';
import { askFirst } from '../unsaved.ts';
import { showHelp } from './help.tsx';
import { Navigation } from './navigation.tsx';
import { applyTheme, type Theme, theme } from './theme.ts';

/** The brand, what the page's liveness is, preferences, and who uses the console; the navigation on narrow screens. */
export function Header() {
  const t = texts.value.shell;
  const who = session.value;
  return (
    <header class="top">
      {who && <Menu />}
      <a class="brand" href="/">
        <img src="/favicon.svg" alt="" width="24" height="24" />
        Docket
      </a>
      {who && <ConnectionState />}
      <div class="top-end">
        <Preferences />
        <button type="button" class="quiet" aria-label={t.help} title={t.help} onClick={showHelp}>
          <kbd>?</kbd>
        </button>
        {who && <Account />}
      </div>
    </header>
  );
}

/** Closed again when a page is chosen, also the one that is shown. */
function Menu() {
  const [open, setOpen] = useState(false);
  return (
    <details class="menu" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={texts.value.shell.menu}>☰</summary>
      {open && <Navigation onChoose={() => setOpen(false)} />}
    </details>
  );
}

function ConnectionState() {
  const state = connection.value;
  if (state === 'idle') return null;
  const words = { ...texts.value.shell.connection, paused: texts.value.common.paused };
  return (
    <output class={`connection ${state}`} aria-live="polite">
      <span class="dot" aria-hidden="true" />
      <span class="connection-word">{words[state]}</span>
    </output>
  );
}

function Preferences() {
  const t = texts.value.shell;
  return (
    <>
      <button type="button" class="quiet" popovertarget="preferences" aria-label={t.preferences} title={t.preferences}>
        <span aria-hidden="true">⚙</span>
      </button>
      <div id="preferences" class="preferences" popover="auto">
        <label for="theme">{t.theme}</label>
        <Select
          id="theme"
          options={Object.entries(t.themes)}
          value={theme.value}
          set={(name) => applyTheme(name as Theme)}
        />
        <label for="language">{t.language}</label>
        <select
          id="language"
          value={language.value}
          onChange={(event) => void setLanguage(event.currentTarget.value as Language, { remember: true })}
        >
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </div>
    </>
  );
}

const leave = () => void signOut().catch((error) => toast(saidOf(error), 'bad'));

function Account() {
  const t = texts.value.shell;
  const who = session.value;
  if (!who) return null;
  if (who.open)
    return (
      <span class="account muted" title={t.openModeHint}>
        {t.openMode}
      </span>
    );
  return (
    <span class="account">
      <span class="account-name">
        {who.name} <span class="muted">{who.role}</span>
      </span>
      <Button does={t.signOut} run={() => askFirst(leave)} look="quiet" />
    </span>
  );
}
