import { render } from 'preact';
import { problemOf } from './api/problem.ts';
import { loadSession } from './api/signing.ts';
import { ProblemNote } from './components/page.tsx';
import { App } from './shell/app.tsx';
import { applyTheme, theme } from './shell/theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/components.css';
import { preferredLanguage, setLanguage } from './texts/texts.ts';

const root = document.getElementById('app') as HTMLElement;
applyTheme(theme.peek());
await begin();

async function begin(): Promise<void> {
  try {
    await Promise.all([loadSession(), setLanguage(preferredLanguage())]);
    render(<App />, root);
  } catch (error) {
    render(<ProblemNote problem={problemOf(error)} retry={() => void begin()} />, root);
  }
}
