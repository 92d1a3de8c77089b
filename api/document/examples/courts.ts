import { callbackTo, type Examples, MADE, workflowAnswer } from './example.ts';

// A buyer and a seller disagree; carla and david judge the dispute. A panel of experts is asked by invitation.

const COURT = { court: 'disputes' };
const of = (id: string) => ({ path: { id } });
const dispute = (id: string, buyer: string, seller: string, claim: string) => ({
  ...{ id, parties: [{ id: buyer }, { id: seller }], body: { claim } },
});

export const courtExamples: Examples = {
  putCourt: {
    path: COURT,
    body: {
      ...{ options: ['buyer', 'seller'], votesToWin: 2, leaseSeconds: 600 },
      ...{ strategy: { pick: 'oldest' }, callback: callbackTo('judgements') },
    },
  },
  getCourt: { path: COURT },
  listCourts: {},
  putJurors: {
    path: COURT,
    body: { jurors: [{ id: 'carla' }, { id: 'david', person: 'david-smith' }, { id: 'erik', invite: false }] },
  },
  getJuror: { path: { ...COURT, juror: 'carla' } },
  putGoldCases: {
    path: COURT,
    body: { cases: [{ id: 'gold-1', body: { claim: 'A stone was in the parcel' }, answer: 'buyer' }] },
  },
  getCourtStats: { path: COURT },
  addCase: { path: COURT, body: dispute('dispute-3', 'buyer-8', 'seller-2', 'The parcel never arrived') },
  addCases: {
    path: COURT,
    body: {
      cases: [
        dispute('dispute-4', 'buyer-3', 'seller-2', 'The colour is another one'),
        dispute('dispute-5', 'buyer-9', 'seller-7', 'The screen is broken'),
      ],
    },
  },
  claimCase: { path: COURT, body: { juror: 'carla' } },
  renewCase: { ...of('dispute-3'), body: { token: MADE.carla } },
  castVote: {
    ...of('dispute-3'),
    body: { token: MADE.carla, option: 'buyer', comment: 'There is no proof of delivery' },
  },
  releaseCase: { ...of('dispute-3'), body: { token: MADE.david } },
  declineCase: { ...of('dispute-9'), body: { token: MADE.greta } },
  invalidateCase: { ...of('dispute-5'), body: { reason: 'they came to an agreement' } },
  getCase: of('dispute-3'),
  listCases: { query: { court: 'disputes', state: 'open' } },
  listVotes: of('dispute-3'),
  listCaseEvents: of('dispute-3'),
  getCaseWorkflow: { ...of('dispute-3'), answers: workflowAnswer('case/dispute-3', 'open', null) },
  listCaseDeliveries: of('dispute-5'),
  redeliverCaseDelivery: { path: { id: 'dispute-5', n: 1 } },
  listInvitations: { path: { juror: 'greta' } },
};
