import { computed, signal } from '@preact/signals';
import { en, type Texts } from './en.ts';

export type Language = 'en' | 'zh';

/** What a language calls itself. */
export const LANGUAGES: Record<Language, string> = { en: 'English', zh: '中文' };

const STORED = 'docket.language';
const loaded: Partial<Record<Language, Texts>> = { en };

export const language = signal<Language>('en');

/** The texts of the chosen language: `const t = texts.value` in a component, which is shown anew when it changes. */
export const texts = computed<Texts>(() => loaded[language.value] ?? en);

/** The language that was chosen here before, else the browser's first that there is. */
export function preferredLanguage(): Language {
  const stored = localStorage.getItem(STORED);
  if (stored === 'en' || stored === 'zh') return stored;
  return navigator.languages.map((l) => l.slice(0, 2)).find((l) => l === 'zh' || l === 'en') === 'zh' ? 'zh' : 'en';
}

/** Texts that are not there yet are loaded first, so that nothing is shown half in one language. */
export async function setLanguage(chosen: Language, { remember = false } = {}): Promise<void> {
  loaded[chosen] ??= (await import('./zh.ts')).zh;
  if (remember) localStorage.setItem(STORED, chosen);
  language.value = chosen;
  document.documentElement.lang = chosen === 'zh' ? 'zh-Hans' : chosen;
}
