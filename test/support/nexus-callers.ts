// Workflows of somebody else, which call Docket by Nexus. Bundled by test/support/nexus.ts.
import { continueAsNew, createNexusServiceClient } from '@temporalio/workflow';
import { operation, service } from 'nexus-rpc';

type Operation = 'ticket' | 'case' | 'job';
const asked = () => operation<object, object>();
const Docket = service('docket', { ticket: asked(), case: asked(), job: asked() });

/** Asks Docket and waits; its result is the operation's. */
export async function ask(endpoint: string, of: Operation, input: object): Promise<object> {
  const docket = createNexusServiceClient({ endpoint, service: Docket });
  return docket.executeOperation(of, input);
}

/** The same once more in a run of its own. */
export async function askTwice(endpoint: string, input: object, before?: object): Promise<object[]> {
  const outcome = await ask(endpoint, 'ticket', input);
  if (before) return [before, outcome];
  return continueAsNew<typeof askTwice>(endpoint, input, outcome);
}
