import type { AnyEndpoint } from './endpoint.ts';
import * as files from './nouns.ts';

const isEndpoint = (exported: object) => 'operation' in exported && 'handle' in exported;

/** All endpoints that the files of api/nouns.ts export, alone or in an array. */
export const endpoints = Object.values<object>(files).flat().filter(isEndpoint) as AnyEndpoint[];
