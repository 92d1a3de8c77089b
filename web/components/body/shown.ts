import { createContext } from 'preact';

/** How a body is shown, for all its parts. */
export interface Shown {
  /** All media are revealed; each can be by itself. */
  revealed: boolean;
  /** What someone looks for: it is marked wherever it stands. */
  word: string;
  /** Cuts a text at what is marked: the word, and those of the queue in a way of their own. */
  cut: (text: string) => string[];
  /** Asks where an address leads. */
  ask: (url: URL) => void;
  /** Opens an image by its address, in a view of its own. */
  enlarge: (url: string) => void;
}

export const Shown = createContext<Shown>({
  revealed: false,
  word: '',
  cut: (text) => [text],
  ask: () => {},
  enlarge: () => {},
});
