import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Service {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  read_only?: boolean;
  privileged?: boolean;
  network_mode?: string;
}

export const composeText = readFileSync('docker-compose.yml', 'utf8');

export const { services, volumes } = parse(composeText, { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, null>;
};

/** A service's environment as compose makes it of what stands in .env; what must be set is `secret` where it is not. */
export const environmentOf = (service: Service | undefined, env: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(service?.environment ?? {}).map(([name, value]) => [
      name,
      value
        .replaceAll(/\$\{(\w+):-(.*?)\}/g, (_, wanted: string, otherwise: string) => env[wanted] || otherwise)
        .replaceAll(/\$\{(\w+):\?.*?\}/g, (_, wanted: string) => env[wanted] || 'secret'),
    ]),
  );
