import ipaddr from 'ipaddr.js';
import { isWorkflow, workflowOf } from '../contract/common.ts';
import type { CaseItem, Completion, Item } from '../contract/items.ts';
import { KINDS } from '../contract/kinds.ts';
import { stateWord } from './items.ts';
import { kindOf } from './kinds.ts';
import { hasNetworks, hostOfUrl, type PrivateHosts, permits } from './private-hosts.ts';
import { asDecided } from './tickets.ts';

/** Names of this machine, for any resolver. */
const OWN_NAMES = /^(.*\.)?localhost$/i;
/** Names within this network. */
const LOCAL_NAMES = /\.(local|internal|home\.arpa)$/i;

/** The reason why a callback is not sent, and the operator's remedy. */
export const PRIVATE_ADDRESS =
  'leads to a private address; the operator can permit its host or network in DOCKET_ALLOW_PRIVATE_CALLBACKS, or all ' +
  'of them with DOCKET_ALLOW_PRIVATE_CALLBACKS=1';

/** Services of a cloud to its own machines at public addresses: Azure's. Those of other clouds are link-local or reserved. */
const OF_CLOUDS = new Set(['168.63.129.16']);

const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Whether an address is one of the public internet: not loopback, private, link-local, mapped, reserved or a cloud's own. */
function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const plain = ipaddr.process(address);
  if (plain.range() !== 'unicast' || OF_CLOUDS.has(plain.toString())) return false;
  // the rest of IPv6's unicast is not assigned, or holds an IPv4 address (::127.0.0.1)
  return plain.kind() === 'ipv4' || plain.match(GLOBAL_IPV6);
}

/**
 * Checks a callback's URL without resolving its host, which is done and checked at each send. WHATWG parsing has already
 * made `0x7f.1` and the like into plain addresses.
 * @param permitted private places that the operator allows
 * @returns why it is refused; null if it is not
 */
export function refuseUrl(text: string, permitted: PrivateHosts): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return 'is not a URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be http or https';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  const host = hostOfUrl(url);
  if (ipaddr.isValid(host)) return mayCall(url, host, permitted) ? null : PRIVATE_ADDRESS;
  if (permits(permitted, url)) return null;
  // a local name may resolve to a permitted network; a name of this machine must be listed itself
  const isPrivate = OWN_NAMES.test(host) || (LOCAL_NAMES.test(host) && !hasNetworks(permitted));
  return isPrivate ? PRIVATE_ADDRESS : null;
}

/** Ids of Docket's own workflows, which callers may not signal through it. */
const OWN = new RegExp(`^(${[...KINDS, 'review', 'delivery', 'schedule', 'awaiting'].join('|')})/`);

/** Where callbacks may go. */
export interface Permitted {
  privateCallbacks: PrivateHosts;
  /** Namespaces with workflows that may be signalled. */
  signalNamespaces: readonly string[];
  /** That of Docket's own workflows. */
  ownNamespace: string;
}

/** The same of the URL of any callback, a workflow's included. */
export function refuseCallback(url: string, permitted: Permitted): string | null {
  if (!isWorkflow(url)) return refuseUrl(url, permitted.privateCallbacks);
  const { namespace, workflowId } = workflowOf(url);
  if (!permitted.signalNamespaces.includes(namespace))
    return `names a workflow of namespace ${namespace}, which is not in DOCKET_SIGNAL_NAMESPACES`;
  return namespace === permitted.ownNamespace && OWN.test(workflowId) ? "names one of Docket's own workflows" : null;
}

/** Whether a callback to this URL may connect to this address, which is one of its host's. */
export const mayCall = (url: URL, address: string, permitted: PrivateHosts): boolean =>
  isPublicAddress(address) || permits(permitted, url, address);

/** The type of an invitation's delivery; a case has one for each, beside that of its outcome. */
export const INVITED = 'case.invited';

/** Whether a delivery is an invitation, for which its case does not wait. */
export const isInvitation = ({ type }: { type: string }) => type === INVITED;

/** A URL as it is shown and logged: the part after the path may hold credentials. */
export const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '');

/**
 * `{type, version, …item}` of an item's outcome; the item under its own name.
 * @param completions of an occurrence, oldest first
 */
export function outcomeMessage(
  item: Item | CaseItem,
  completions: Completion[],
): { type: string; version: number; [kind: string]: unknown } {
  const type = `${item.kind}.${stateWord(item.kind, item.state)}`;
  const view = kindOf(item.kind).outcome?.(item, completions) ?? {};
  return { type, version: asDecided(item as Item).version, [item.kind]: view, ...actedOn(view) };
}

/** The fields that a receiver acts on, repeated beside the item. */
function actedOn(view: object): object {
  if ('logId' in view && 'uid' in view && 'result' in view)
    return { uid: view.uid, logId: view.logId, result: view.result };
  return 'reason' in view && view.reason !== null ? { reason: view.reason } : {};
}

type View = Record<string, unknown>;

/** What a workflow is told of an item: not the body, which its history would keep. */
const BRIEFS: Record<string, (view: View, message: View) => View> = {
  ticket: ({ id, state, decision, decidedBy, decidedAt, reason, invalidation }) => {
    const why = reason ?? (invalidation as View | null)?.reason ?? null;
    return { id, state, decision, decidedBy, decidedAt, reason: why };
  },
  case: ({ id, state, winner, tally, endReason }) => ({ id, state, winner, tally, reason: endReason }),
  task: ({ id, occurrence, state, result, uid, completions }) => {
    const completedAt = (completions as Completion[]).at(-1)?.completedAt ?? null;
    return { id, occurrence, state, result, uid, completedAt };
  },
  review: ({ id }, { changes }) => ({ id, changes }),
};

/** The message of a delivery as the argument of a workflow's signal (B.1). */
export function briefly(message: { type: string; version: number } & View) {
  const { type, version, juror, expiresAt } = message;
  const [kind = '', brief] = Object.entries(BRIEFS).find(([name]) => name in message) ?? [];
  return {
    type,
    version,
    ...(juror !== undefined && { juror, expiresAt }),
    [kind]: brief?.(message[kind] as View, message),
    ...(message.look != null && { look: brief?.(message.look as View, message) }),
  };
}
