import { choice, count, type FieldSpec, type Part, proposed, seconds, zone } from '../../components/form/spec.ts';
import type { Texts } from '../../texts/en.ts';
import { callbackFields } from './callback-form.ts';

/** Every setting of a court. */
export const courtForm = (texts: Texts): Part[] => [
  verdict(texts.courtSettings),
  showing(texts.courtSettings),
  inviting(texts.courtSettings),
  ending(texts.courtSettings),
  quality(texts.courtSettings),
  outcome(texts),
];

type CourtTexts = Texts['courtSettings'];

const verdict = (t: CourtTexts): Part => ({
  title: t.verdict,
  fields: [
    count('votesToWin', t.votesToWin, 9),
    count('panel', t.panel, null),
    count('margin', t.margin, null),
    count('probability', t.probability, null),
    count('maxVotes', t.maxVotes, null),
    choice('lateVotes', t.lateVotes, t.lates, 'refuse'),
    { kind: 'lines', name: 'options', said: t.options, empty: 'required', initial: ['buyer', 'seller'] },
    { kind: 'object', name: 'strategy', said: t.strategy, fields: strategy(t) },
  ],
});

const strategy = (t: CourtTexts): FieldSpec[] => [
  choice('decide', t.decide, t.decides, 'first-to'),
  choice('admit', t.admit, t.admits, 'all'),
  choice('pick', t.pick, t.picks, 'random'),
];

const showing = (t: CourtTexts): Part => ({
  title: t.showing,
  fields: [
    seconds('leaseSeconds', t.leaseSeconds, 600),
    count('overbook', t.overbook, 0),
    count('votesPerDay', t.votesPerDay, null),
    zone(t.timezone),
    {
      ...{ kind: 'optional', name: 'window', said: t.window },
      fields: [proposed(count('cases', t.windowCases, 3)), proposed(seconds('seconds', t.windowSeconds, 1_800))],
    },
  ],
});

const inviting = (t: CourtTexts): Part => ({
  title: t.inviting,
  fields: [
    choice('mode', t.mode, t.modes, 'claim'),
    {
      ...{ kind: 'optional', name: 'assign', said: t.assign },
      fields: [
        proposed(count('jurors', t.assignJurors, 9)),
        proposed(seconds('answerSeconds', t.answerSeconds, 3_600)),
        count('perJurorPerDay', t.perJurorPerDay, null),
        count('perJuror', t.perJuror, 1),
      ],
    },
  ],
});

const ending = (t: CourtTexts): Part => ({
  title: t.endings,
  fields: [
    seconds('deadlineSeconds', t.deadlineSeconds, null),
    {
      ...{ kind: 'variants', name: 'fallback', said: t.fallback, none: t.fallbackNone },
      variants: [
        proposed(seconds('extendSeconds', t.extendSeconds, null)),
        { kind: 'text', name: 'court', said: t.fallbackCourt, empty: 'required' },
        { kind: 'text', name: 'queue', said: t.fallbackQueue, empty: 'required' },
      ],
    },
  ],
});

const quality = (t: CourtTexts): Part => ({
  title: t.jurors,
  fields: [
    count('goldShare', t.goldShare, 0.1),
    {
      ...{ kind: 'optional', name: 'quality', said: t.quality },
      fields: [proposed(count('agreement', t.agreement, 0.5)), count('after', t.after, 10)],
    },
  ],
});

const outcome = ({ courtSettings: t, queueSettings, form }: Texts): Part => ({
  title: queueSettings.outcome,
  fields: [
    { kind: 'optional', name: 'callback', said: t.callback, fields: callbackFields(form) },
    { kind: 'optional', name: 'invitationCallback', said: t.invitationCallback, fields: callbackFields(form) },
  ],
});
