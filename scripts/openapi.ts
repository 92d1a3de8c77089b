import { writeFileSync } from 'node:fs';
import { openApi } from '../api/document/openapi.ts';
import { endpoints } from '../api/endpoints.ts';
import { committed, differences } from './architecture/drift.ts';

const FILE = new URL('../docs/openapi.json', import.meta.url);

export const openApiText = () => `${JSON.stringify(openApi(endpoints), null, 2)}\n`;

/** What is different between the committed document and the code. */
export function checkOpenApi(): string[] {
  return differences('docs/openapi.json', committed(FILE), openApiText());
}

if (import.meta.filename === process.argv[1]) {
  writeFileSync(FILE, openApiText());
  console.log('docs/openapi.json is written');
}
