import { writeFileSync } from 'node:fs';
import type { Api } from '../api/api.ts';
import { createApp, openApi } from '../api/app.ts';
import { committed, differences } from './architecture/drift.ts';

const FILE = new URL('../docs/openapi.json', import.meta.url);

/** Building the app registers endpoints and calls nothing, so no server is needed for the document. */
const unused = new Proxy({} as Api, {
  get(_, name) {
    throw new Error(
      `api.${String(name)} was used while the app was built: the OpenAPI document needs it without servers`,
    );
  },
});

export const openApiText = () => `${JSON.stringify(openApi(createApp(unused)), null, 2)}\n`;

/** What is different between the committed document and the code. */
export function checkOpenApi(): string[] {
  return differences('docs/openapi.json', committed(FILE), openApiText());
}

if (import.meta.filename === process.argv[1]) {
  writeFileSync(FILE, openApiText());
  console.log('docs/openapi.json is written');
}
