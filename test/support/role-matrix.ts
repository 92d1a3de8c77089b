import type { Role } from '../../contract/keys.ts';

/**
 * Who may call what: operations by the roles whose keys they are open to. An administrator's key is good for all of them;
 * `anybody` needs no key. It is written down here a second time on purpose, so that an operation that is new, or open to another
 * role than before, is looked at by someone who decides that it may be.
 */
const MATRIX: Record<string, string> = {
  anybody: `
    getSignInWays signIn getLiveness getReadiness getMetrics`,
  admin: `
    putQueue deleteQueue putTopic deleteTopic putCourt deleteCourt putGoldCases putGoldTickets listGoldTickets addKey
    listKeys revokeKey listAdminLog addErasure getErasure`,
  supervisor: `
    putReviewer getReviewer listReviewers deleteReviewer explainWho
    pauseQueue resumeQueue getQueueQuality getQueueQualityCsv getSuggestionFigures`,
  producer: `
    putJurors`,
  'producer supervisor': `
    addTicket addTickets addTicketLook resolveTickets resolveTicket invalidateTicket invalidateTickets invalidateSubject updateTicket
    redeliverTicketDelivery putSchedule deleteSchedule putReview redeliverReviewDelivery addCase
    addCases addCaseLook updateCase resolveCase invalidateCase redeliverCaseDelivery addTemplate updateTemplate deleteTemplate putGroup updateGroupMembers
    addTask updateTask deleteTask redeliverOccurrenceDelivery redeliverDelivery readFeed`,
  'consumer supervisor': `
    buryJob`,
  'reviewer agent': `
    claimTickets claimFromQueues decideTicket disputeTicket putTicketDraft getTicketDraft renewTicket claimCase castVote renewCase releaseCase
    declineCase listInvitations pullTask completeTask`,
  'reviewer agent supervisor': `
    releaseTicket transferTicket releaseTask getTicketContext putMacro listMacros deleteMacro putDefaults getDefaults`,
  'producer agent supervisor': `
    listTicketEvents getTicketWorkflow listTicketDeliveries getReview addReviewCallback addPictureCallback
    listReviews listReviewLog getReviewStats getReviewStores getReviewWorkflow listReviewDeliveries
    getCourtStats listVotes listCases listCaseEvents getCaseWorkflow listCaseDeliveries getGroup
    listGroups listTasks getTask getOccurrenceWorkflow listOccurrenceEvents listOccurrenceDeliveries
    listDispatches getOverview getAttention getService findItems listDeliveries`,
  'producer consumer supervisor': `
    runJobCommand getJob listJobEvents getJobWorkflow getTopic listTopics getTopicStats listTopicJobs
    getSchedule listSchedules`,
  'producer agent consumer supervisor': `
    getFigures getLateness`,
  'producer reviewer agent supervisor': `
    getQueue listQueues getQueueStats getTicket listTickets listTicketsCsv putView listViews deleteView addTicketNote listTicketNotes explainClaim explainCase explainTask
    getCourt listCourts getJuror getCase listTemplates getTemplate getPeopleFigures openStream`,
  model: `
    addTicketSuggestion listUnsuggested`,
  'producer reviewer agent consumer supervisor': `
    addStreamTicket listNodes`,
  'producer reviewer agent consumer supervisor model': `
    getSession signOut`,
};

const words = (text: string): string[] => text.match(/\w+/g) ?? [];
const roles = new Map(
  Object.entries(MATRIX).flatMap(([open, all]) => words(all).map((name): [string, string[]] => [name, words(open)])),
);

/** Operations of the matrix, sorted; one that stands in two places is there twice. */
export const matrixOperations = Object.values(MATRIX).flatMap(words).sort();

/** Whether a key of this role may call the operation; null: without a key, too. */
export function mayCall(operation: string, role: Role): boolean | null {
  const open = roles.get(operation);
  if (open === undefined) throw new Error(`test/support/role-matrix.ts does not say who may call ${operation}`);
  return open.includes('anybody') ? null : role === 'admin' || open.includes(role);
}
