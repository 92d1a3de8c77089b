import type { components } from './openapi.ts';

type Schemas = components['schemas'];

/** `id` is yours and unique: it is what makes a repeat harmless. */
export type NewTask = Schemas['NewTask'] & { id: string };
export type NewTemplate = Schemas['NewTemplate'] & { id: string };
export type TemplateChange = Schemas['PatchTemplate'];
export type Task = Schemas['Task'];

/** A task's occurrence as it is handed out to one user. */
export interface Dispatch<Params = Record<string, unknown>> {
  /** What a completion quotes. */
  logId: string;
  taskId: string;
  /** Its scheduled time, which names it among the task's occurrences. */
  occurrence: string;
  startTime: string;
  params: Params;
  /** It was handed out before, and not completed: perhaps some of it is done. */
  redo: boolean;
}

/** `nextAt`: when there will be something, as far as that is known; `reasons`: counts of what is not for the user. */
export interface NextDispatch {
  dispatch: Dispatch | null;
  nextAt: string | null;
  reasons: Schemas['NextTaskAnswer']['reasons'];
}
