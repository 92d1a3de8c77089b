import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { type RunningChild, runToEnd, spawnServer, untilReady } from '../../cli/servers/children.ts';
import { lastingPort } from '../../cli/servers/ports.ts';
import { eventually } from '../../test/support/eventually.ts';
import { builtByGo } from '../../test/support/go.ts';

/** As in docker-compose.yml. */
const VERSION = '1.31.2';
const HOST = '127.0.0.1';

export interface Temporal extends RunningChild {
  address: string;
}

const MODULES = ['cmd/server', 'cmd/tools/sql'].map((name) => `go.temporal.io/server/${name}@v${VERSION}`);

interface Installation {
  cacheDir: string;
  dir: string;
  port: number;
  /** URL of a PostgreSQL server on which Temporal may make its databases. */
  postgres: string;
}

/** Installs Temporal's server with its stores in PostgreSQL, all four services in one process. @returns how to start it */
export async function productionTemporal(o: Installation): Promise<() => Promise<Temporal>> {
  const programs = join(o.cacheDir, `temporal-server-${VERSION}`);
  builtByGo(programs, MODULES);
  mkdirSync(o.dir, { recursive: true });
  await makeSchemas(programs, new URL(o.postgres));
  const ports = [];
  for (let n = 0; n < 7; n++) ports.push(await lastingPort());
  writeFileSync(join(o.dir, 'docket.yaml'), JSON.stringify(configuration(new URL(o.postgres), o, ports)));
  writeFileSync(join(o.dir, 'dynamic.yaml'), DYNAMIC);
  return async () => {
    const server = await spawnServer({
      ...{ command: join(programs, 'server'), signal: 'SIGTERM', graceMs: 15_000 },
      args: ['--root', o.dir, '--config', '.', '--env', 'docket', '--allow-no-auth', 'start'],
    });
    const address = `${HOST}:${o.port}`;
    await untilReady('Temporal', server, () => withNamespace(address), { most: 600 });
    return { ...server, address };
  };
}

async function makeSchemas(programs: string, { hostname, port, username, password }: URL): Promise<void> {
  const to = ['--plugin', 'postgres12', '--ep', hostname, '-p', port, '-u', username, '--pw', password];
  const tool = (database: string, ...args: string[]) =>
    runToEnd({
      ...{ command: join(programs, 'sql'), args: [...to, '--db', database, ...args] },
      ...{ signal: 'SIGTERM', graceMs: 5_000 },
    });
  for (const [database, schema] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    await tool(database, 'create-database');
    await tool(database, 'setup-schema', '-v', '0.0');
    await tool(database, 'update-schema', '--schema-name', `postgresql/v12/${schema}`);
  }
}

/** Makes the namespace if it is not there. */
async function withNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '2s' });
  const { workflowService, operatorService } = connection;
  const namespace = 'default';
  const retention = { seconds: 86_400 as never };
  try {
    await workflowService
      .describeNamespace({ namespace })
      .catch(() => workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention }));
    // its caches know it some seconds later
    await eventually(() => operatorService.listSearchAttributes({ namespace }));
  } finally {
    await connection.close();
  }
}

/** As deploy/temporal-dynamic.yaml. */
const DYNAMIC = `limit.maxIDLength: [{ value: 1020 }]
matching.useNewMatcher: [{ value: true }]
matching.numTaskqueueReadPartitions: [{ value: 1 }]
matching.numTaskqueueWritePartitions: [{ value: 1 }]
`;

function configuration(postgres: URL, { dir, port }: { dir: string; port: number }, ports: number[]): object {
  const next = () => ports.pop() ?? 0;
  const store = (databaseName: string) => ({
    sql: {
      ...{ pluginName: 'postgres12', databaseName, connectAddr: postgres.host, connectProtocol: 'tcp' },
      ...{ user: postgres.username, password: postgres.password },
      ...{ maxConns: 20, maxIdleConns: 20, maxConnLifetime: '1h' },
    },
  });
  const service = (grpcPort: number) => ({ rpc: { grpcPort, membershipPort: next(), bindOnIP: HOST } });
  const address = `${HOST}:${port}`;
  return {
    log: { stdout: true, level: 'error' },
    persistence: {
      ...{ defaultStore: 'default', visibilityStore: 'visibility', numHistoryShards: 4 },
      datastores: { default: store('temporal'), visibility: store('temporal_visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: HOST } },
    services: {
      ...{ frontend: service(port), history: service(next()), matching: service(next()), worker: service(next()) },
    },
    clusterMetadata: {
      ...{ enableGlobalNamespace: false, failoverVersionIncrement: 10 },
      ...{ masterClusterName: 'active', currentClusterName: 'active' },
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: address },
      },
    },
    publicClient: { hostPort: address },
    dcRedirectionPolicy: { policy: 'noop' },
    archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } },
    namespaceDefaults: { archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } } },
    dynamicConfigClient: { filepath: join(dir, 'dynamic.yaml'), pollInterval: '60s' },
  };
}
