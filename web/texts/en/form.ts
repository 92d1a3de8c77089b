import { said } from '../said.ts';

/** What forms say about their inputs. */
export const form = {
  seconds: 'seconds',
  onePerLine: 'One per line.',
  inZone: (zone: string) => `In your time zone, ${zone}.`,
  defaultIs: (value: string) => `Default: ${value}.`,
  on: 'On',
  remove: 'Remove',
  show: 'Show',
  moreFilters: 'More filters',
  newSecret: 'New secret',
  chooseOne: 'Please choose',
  wrong: {
    required: 'Is required.',
    number: 'Must be a number, without commas between thousands.',
    integer: 'Must be a whole number.',
    range: 'Is out of range.',
    length: 'Is too short or too long.',
    pattern: 'Does not have the form that is asked for.',
    json: 'Is not JSON.',
    moment: 'Must be a date and a time.',
  },
  unsaved: {
    title: 'Leave without saving?',
    lost: 'What you have changed here is not saved, and would be lost.',
    stay: 'Keep editing',
    leave: 'Discard',
  },
  callbackUrl: said('Address', 'Calls are POSTed there.'),
  callbackSecret: said('Secret', 'Signs each call as Standard Webhooks say: whsec_ and base64 of 24 to 64 bytes.'),
  workflow: said('Workflow', 'Receives outcomes as signals, instead of an address.'),
  workflowNamespace: said('Namespace', 'One that DOCKET_SIGNAL_NAMESPACES lists.'),
  workflowId: said('Workflow ID', 'Of the workflow that is signalled.'),
  workflowRun: said('Run ID', 'Empty: the run that is open then.'),
  workflowSignal: said('Signal', 'Its name; its argument is the outcome.'),
};
