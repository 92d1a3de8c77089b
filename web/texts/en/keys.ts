import { said } from '../said.ts';

/** The page of keys. */
export const keys = {
  lead: 'A key is shown once, when it is made. Docket keeps only its hash.',
  open: 'This server asks for no key: a call without one is an administrator’s, one with a key counts as the key’s.',
  none: 'There are no keys yet.',
  create: 'New key',
  make: 'Make the key',
  role: said('Role', 'What it may do.'),
  roles: {
    producer: 'producer: adds, changes and reads',
    reviewer: 'reviewer: claims and decides as its own subject',
    agent: 'agent: claims and decides for any subject, as an application',
    consumer: 'consumer: takes and finishes jobs',
    supervisor: 'supervisor: a producer who also pauses, transfers and takes back',
    model: 'model: suggests decisions, as its own subject',
    admin: 'admin: everything',
  },
  subject: said('Subject', 'Whom it speaks for. A reviewer or model key needs one.'),
  name: said('Name', 'How events name it. Empty: its subject, else its role.'),
  queues: said(
    'Queues',
    'Queues, topics, courts and groups where it may act; a * at the end stands for the rest. Empty: all.',
  ),
  expiresAt: said('Ends', 'Empty: when it is revoked.'),
  callsPerSecond: said('Calls a second', 'Of each API process. Empty: as many as it likes.'),
  shown: 'Your new key',
  shownHint: 'Copy it now: it cannot be shown again.',
  key: 'Key',
  columns: { role: 'Role', subject: 'Subject', queues: 'Queues', ends: 'Ends', made: 'Made', actions: 'Actions' },
  all: 'all',
  never: 'never',
  active: 'Active',
  ended: 'Ended',
  revoked: 'Revoked',
  revoke: 'Revoke',
  revokeTitle: (name: string) => `Revoke the key ${name}?`,
  revokeHint:
    'It stops working within a second, everywhere, and cannot be brought back. So do sessions that it opened.',
  revokedSaid: (name: string) => `The key ${name} is revoked.`,
};
