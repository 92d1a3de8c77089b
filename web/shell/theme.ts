import { signal } from '@preact/signals';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'docket.theme';
const stored = localStorage.getItem(STORED);

export const theme = signal<Theme>(THEMES.find((t) => t === stored) ?? 'system');

export function applyTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(STORED, chosen);
  // the colours themselves are light-dark() of the color-scheme that this sets (web/styles/tokens.css)
  document.documentElement.dataset.theme = chosen;
}
