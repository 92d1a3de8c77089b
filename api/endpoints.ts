import { listAdminLog } from './admin-log/admin-log.ts';
import { addCaseBatch, addCaseEndpoint } from './cases/add.ts';
import { getCaseEndpoint, invalidateCase, listCasesEndpoint, listVotes, oneCase } from './cases/get.ts';
import {
  castVoteEndpoint,
  claimCaseEndpoint,
  declineCase,
  listInvitations,
  releaseCase,
  renewCase,
} from './cases/judging.ts';
import { putGoldEndpoint } from './courts/gold.ts';
import { getJurorEndpoint, putJurorsEndpoint } from './courts/jurors.ts';
import { getCourtEndpoint, listCourtsEndpoint, putCourtEndpoint } from './courts/settings.ts';
import { courtStatsEndpoint } from './courts/stats.ts';
import { listDeliveriesEndpoint, redeliverEndpoint } from './deliveries/all.ts';
import type { AnyEndpoint } from './endpoint.ts';
import { feedEndpoint } from './feed/feed.ts';
import { findItemsEndpoint } from './figures/find.ts';
import { attentionEndpoint, overviewEndpoint } from './figures/overview.ts';
import { latenessEndpoint, peopleEndpoint } from './figures/people.ts';
import { figuresEndpoint } from './figures/series.ts';
import { jobCommand } from './jobs/commands.ts';
import { buryJob, getJob, jobWorkflow, listJobEvents, listTopicJobs } from './jobs/get.ts';
import {
  deleteScheduleEndpoint,
  getScheduleEndpoint,
  listSchedulesEndpoint,
  putScheduleEndpoint,
} from './jobs/schedules.ts';
import {
  deleteTopicEndpoint,
  getTopicEndpoint,
  listTopics,
  putTopicEndpoint,
  topicStatsEndpoint,
} from './jobs/topics.ts';
import { addKeyEndpoint, listKeysEndpoint, revokeKeyEndpoint } from './keys/keys.ts';
import {
  deleteQueueEndpoint,
  getQueueEndpoint,
  listQueuesEndpoint,
  pauseQueueEndpoint,
  putQueueEndpoint,
  resumeQueueEndpoint,
} from './queues/settings.ts';
import { queueStatsEndpoint } from './queues/stats.ts';
import { pictureCallback, reviewCallback } from './reviews/callbacks.ts';
import {
  getReviewEndpoint,
  listReviewsEndpoint,
  reviewDeliveries,
  reviewLogEndpoint,
  reviewStatsEndpoint,
  reviewStoresEndpoint,
  reviewWorkflow,
} from './reviews/get.ts';
import { putReviewEndpoint } from './reviews/put.ts';
import { getSignInWays } from './sessions/open-id.ts';
import { getSessionEndpoint, signInEndpoint, signOutEndpoint } from './sessions/sessions.ts';
import { streamEndpoint, streamTicketEndpoint } from './streams/stream.ts';
import { livez, metricsEndpoint, nodesEndpoint, readyz } from './system/health.ts';
import { completeTaskEndpoint, dispatchLogEndpoint, nextTaskEndpoint } from './tasks/dispatches.ts';
import { changeMembersEndpoint, getGroupEndpoint, listGroupsEndpoint, putGroupEndpoint } from './tasks/groups.ts';
import { oneOccurrence } from './tasks/occurrences.ts';
import {
  addTaskEndpoint,
  deleteTaskEndpoint,
  getTaskEndpoint,
  listTasksEndpoint,
  patchTaskEndpoint,
} from './tasks/tasks.ts';
import {
  addTemplateEndpoint,
  deleteTemplateEndpoint,
  getTemplateEndpoint,
  listTemplatesEndpoint,
} from './tasks/templates.ts';
import { addTicketBatch, addTicketEndpoint } from './tickets/add.ts';
import { claimTicketsEndpoint, explain } from './tickets/claim.ts';
import { decideTicket } from './tickets/decide.ts';
import { invalidateTicket, invalidateTickets, resolveTicket, resolveTickets } from './tickets/end.ts';
import { getTicket, listTickets, oneTicket } from './tickets/get.ts';
import { releaseTicket, renewTicket, transferTicket } from './tickets/leases.ts';
import { addNote, listNotes } from './tickets/notes.ts';
import { patchTicket } from './tickets/patch.ts';

/** Every endpoint there is; the app, the OpenAPI document and the role table are made of this list. */
export const endpoints = [
  putQueueEndpoint,
  getQueueEndpoint,
  listQueuesEndpoint,
  deleteQueueEndpoint,
  pauseQueueEndpoint,
  resumeQueueEndpoint,
  queueStatsEndpoint,
  addTicketEndpoint,
  addTicketBatch,
  claimTicketsEndpoint,
  decideTicket,
  renewTicket,
  releaseTicket,
  transferTicket,
  resolveTickets,
  resolveTicket,
  invalidateTicket,
  invalidateTickets,
  patchTicket,
  getTicket,
  listTickets,
  addNote,
  listNotes,
  oneTicket.events,
  oneTicket.workflow,
  oneTicket.deliveries.list,
  oneTicket.deliveries.again,
  explain,
  jobCommand,
  getJob,
  buryJob,
  listJobEvents,
  jobWorkflow,
  putTopicEndpoint,
  getTopicEndpoint,
  listTopics,
  deleteTopicEndpoint,
  topicStatsEndpoint,
  listTopicJobs,
  putScheduleEndpoint,
  getScheduleEndpoint,
  listSchedulesEndpoint,
  deleteScheduleEndpoint,
  putReviewEndpoint,
  reviewCallback,
  pictureCallback,
  getReviewEndpoint,
  listReviewsEndpoint,
  reviewLogEndpoint,
  reviewStatsEndpoint,
  reviewStoresEndpoint,
  reviewWorkflow,
  reviewDeliveries.list,
  reviewDeliveries.again,
  putCourtEndpoint,
  getCourtEndpoint,
  listCourtsEndpoint,
  putJurorsEndpoint,
  getJurorEndpoint,
  putGoldEndpoint,
  courtStatsEndpoint,
  addCaseEndpoint,
  addCaseBatch,
  claimCaseEndpoint,
  castVoteEndpoint,
  renewCase,
  releaseCase,
  declineCase,
  invalidateCase,
  getCaseEndpoint,
  listCasesEndpoint,
  listVotes,
  oneCase.events,
  oneCase.workflow,
  oneCase.deliveries.list,
  oneCase.deliveries.again,
  listInvitations,
  addTemplateEndpoint,
  listTemplatesEndpoint,
  getTemplateEndpoint,
  deleteTemplateEndpoint,
  putGroupEndpoint,
  changeMembersEndpoint,
  listGroupsEndpoint,
  getGroupEndpoint,
  addTaskEndpoint,
  listTasksEndpoint,
  getTaskEndpoint,
  patchTaskEndpoint,
  deleteTaskEndpoint,
  oneOccurrence.workflow,
  oneOccurrence.events,
  oneOccurrence.deliveries.list,
  oneOccurrence.deliveries.again,
  nextTaskEndpoint,
  completeTaskEndpoint,
  dispatchLogEndpoint,
  overviewEndpoint,
  attentionEndpoint,
  findItemsEndpoint,
  figuresEndpoint,
  peopleEndpoint,
  latenessEndpoint,
  listDeliveriesEndpoint,
  redeliverEndpoint,
  feedEndpoint,
  streamEndpoint,
  streamTicketEndpoint,
  getSignInWays,
  signInEndpoint,
  getSessionEndpoint,
  signOutEndpoint,
  listAdminLog,
  addKeyEndpoint,
  listKeysEndpoint,
  revokeKeyEndpoint,
  livez,
  readyz,
  metricsEndpoint,
  nodesEndpoint,
] as unknown as AnyEndpoint[];
