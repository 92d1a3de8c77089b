import { z } from '@hono/zod-openapi';
import { answer, Json, orNull, request, Whole } from './common.ts';
import { covered } from './figures.ts';
import { Name } from './names.ts';

/** The part that models have in a decision. */
export const Automation = z.enum(['none', 'partial', 'full']);

const Part = z.number().min(0).max(1);

const Mode = z.enum(['off', 'shadow', 'suggest', 'auto']);

/** Of a queue: the part that models have in it. */
export const Assist = z.strictObject({
  mode: Mode.default('off').describe(
    'shadow: no reviewer sees suggestions; suggest: they are shown; auto: they decide',
  ),
  minConfidence: Part.default(1).describe('From which on a suggestion decides, in mode auto'),
  share: Part.default(0).describe('Of decisions in mode auto: how many get a second look'),
});
export type Assist = z.output<typeof Assist>;
/** The setting of queues that say nothing of models. */
export const NO_MODELS: Assist = Assist.parse({});

export const NewSuggestion = request('NewSuggestion', {
  model: Name.optional().describe("May be left out with a model's key"),
  decision: Json,
  confidence: Part,
  reasons: Json.optional().describe('Why, for people'),
  version: Whole.min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Of the ticket as the model saw it: refused if its body or requirements have changed since'),
});
export type NewSuggestion = z.output<typeof NewSuggestion>;

export const Suggestion = z
  .object({ model: z.string(), decision: Json, confidence: z.number(), reasons: Json })
  .openapi('Suggestion', { description: 'What a model suggests for a ticket' });
export type Suggestion = z.output<typeof Suggestion>;

/** Fields of every ticket. */
export const assisted = {
  automation: Automation.describe('partial: whoever decided was shown a suggestion; full: a model decided'),
  suggestion: orNull(Suggestion).describe(
    'While it is open, in a queue in mode `suggest`, in claims, as `next` and by its id; else null',
  ),
};

export const UnsuggestedFilter = z.object({
  model: Name.optional().describe("May be left out with a model's key"),
  waitSeconds: z.coerce.number().min(0).max(60).default(0),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

const Share = z.number().nullable().describe('null: of none');

const ModelFigures = answer('ModelFigures', {
  model: z.string(),
  mode: Mode.describe('Of the queue when the suggestions came'),
  suggested: Whole.describe('Suggestions for tickets that are decided now'),
  shown: Whole.describe('Of these, shown to whoever decided'),
  automated: Whole.describe('Of these, the ones that decided'),
  saved: Share.describe('`automated` as a share of all decided tickets'),
  judged: Whole.describe('Of these, what is right is known: a person decided, or took a second look at the decision'),
  right: Whole.describe('Of those judged, the ones that agree with the decision that counts'),
  agreement: Share,
  agreements: z
    .array(z.object({ decision: Json, judged: Whole, right: Whole }))
    .describe('By what was suggested; the 50 most frequent'),
  looked: Whole.describe('Of those that decided, looked at again with an outcome'),
  overturned: Whole,
  overturnedShare: Share,
  bins: z
    .array(z.object({ from: z.number(), to: z.number(), suggested: Whole, judged: Whole, right: Whole }))
    .describe('Ten, by confidence: how sure the model was beside how often it was right'),
});

export const SuggestionFigures = z
  .object({ ...covered, decided: Whole, items: z.array(ModelFigures) })
  .openapi('SuggestionFigures', {
    description: 'Of the tickets that were added in this time and are decided by a lease, looks and gold left out',
  });
