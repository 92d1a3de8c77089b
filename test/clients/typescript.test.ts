import { typescriptKit } from '../support/clients/kits.ts';
import { testClient } from '../support/clients/scenarios.ts';
import { startTestSystem } from '../support/system.ts';

testClient(await startTestSystem(), typescriptKit());
