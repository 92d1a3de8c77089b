import { inject } from 'vitest';
import { testItems } from '../support/clients/items.ts';
import { pythonKit } from '../support/clients/kits.ts';
import { startTestSystem } from '../support/system.ts';

testItems(await startTestSystem(), await startTestSystem({}, { role: 'api' }), pythonKit(inject('cacheDir')));
