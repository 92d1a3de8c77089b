/** What every input of a form bears. */
export interface Shared {
  id: string;
  value: string;
  onInput: (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => void;
}
