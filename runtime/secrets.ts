import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const [NONCE, TAG] = [12, 16];
const SEALED = /^sealed:([0-9a-f]{8}):([A-Za-z0-9_-]+)$/;

/** 32 bytes each, in base64, separated by commas. @throws Error where one is not */
export function parseSecretKeys(text: string): Buffer[] {
  return text.split(',').map((each) => {
    const key = Buffer.from(each.trim(), 'base64');
    if (key.length !== 32)
      throw new Error('must be 32 bytes in base64 (openssl rand -base64 32), or several by commas');
    return key;
  });
}

interface WithSecret {
  secret: string;
}

/**
 * Seals the secrets of callbacks for the database: with the first key; any key opens them, so that keys can be rotated.
 * Equal secrets are sealed alike, so that repeating a PUT changes nothing. Without keys secrets are stored as they are, and
 * so are those stored before there was a key.
 */
export class Secrets {
  /** Keys by name; the first seals. */
  readonly #keys: Map<string, Key>;

  constructor(keys: Buffer[] = []) {
    this.#keys = new Map(keys.map((key) => [nameOf(key), keyOf(key)]));
  }

  /** Seals a callback for the database; one sealed with an older known key is sealed with the first. */
  seal<C extends object | null>(given: C): C {
    const [first] = this.#keys;
    const callback = this.show(given);
    if (!first || !hasSecret(callback) || SEALED.test(callback.secret)) return callback;
    const [name, { encrypt, nonce: nonceKey }] = first;
    // Derived from the secret: a nonce repeats only with the same secret.
    const nonce = createHmac('sha256', nonceKey).update(callback.secret).digest().subarray(0, NONCE);
    const cipher = createCipheriv(ALGORITHM, encrypt, nonce);
    const text = Buffer.concat([cipher.update(callback.secret), cipher.final()]);
    const sealed = Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
    return { ...callback, secret: `sealed:${name}:${sealed}` };
  }

  /** Opens a callback for sending. @throws Error when no key opens its secret */
  open<C extends object | null>(callback: C): C {
    const found = hasSecret(callback) ? SEALED.exec(callback.secret) : null;
    if (!found) return callback;
    const [, name = '', text = ''] = found;
    const key = this.#keys.get(name);
    if (!key) throw new Error(`its secret is sealed with the key ${name}, which DOCKET_SECRETS_KEY does not have`);
    const sealed = Buffer.from(text, 'base64url');
    const decipher = createDecipheriv(ALGORITHM, key.encrypt, sealed.subarray(0, NONCE));
    decipher.setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
    const secret = Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()]).toString();
    return { ...callback, secret };
  }

  /** The name of the key that seals; undefined: none does. */
  get sealing(): string | undefined {
    return this.#keys.keys().next().value;
  }

  has(name: string): boolean {
    return this.#keys.has(name);
  }

  /** Opens a callback for administrators; it stays sealed where no key opens it. */
  show<C extends object | null>(callback: C): C {
    try {
      return this.open(callback);
    } catch {
      return callback;
    }
  }
}

interface Key {
  encrypt: Buffer;
  nonce: Buffer;
}

const derived = (key: Buffer, use: string) => Buffer.from(hkdfSync('sha256', key, '', `docket secrets: ${use}`, 32));
const keyOf = (key: Buffer): Key => ({ encrypt: derived(key, 'encrypt'), nonce: derived(key, 'nonce') });
const nameOf = (key: Buffer) => hash('sha256', derived(key, 'name')).slice(0, 8);
const hasSecret = (callback: object | null): callback is WithSecret =>
  typeof (callback as Partial<WithSecret> | null)?.secret === 'string';
