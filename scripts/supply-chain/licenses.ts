import { type Shipped, shippedPackages } from './shipped.ts';

/**
 * What packages may be licensed under to be shipped with software under the Apache License 2.0 without obligations beyond
 * naming them.
 */
const ALLOWED = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'Unlicense'],
]);

/** Packages with another licence, and why that is no obstacle. */
const EXCEPTIONS: Record<string, { license: string | null; why: string }> = {
  'caniuse-lite': { license: 'CC-BY-4.0', why: 'a table of browsers, which the bundler reads and no answer contains' },
  unionfs: { license: null, why: 'its LICENSE file is the text of the Unlicense' },
};

/** Packages whose licences are not known to be allowed. Every licence of an expression must be, whatever it says between them. */
export function disallowed(packages: Pick<Shipped, 'name' | 'version' | 'license'>[]): string[] {
  return packages.flatMap(({ name, version, license }) => {
    if (EXCEPTIONS[name]?.license === license) return [];
    const ids = license?.match(/[\w.+-]+/g)?.filter((word) => !/^(AND|OR|WITH)$/.test(word)) ?? [];
    if (ids.length > 0 && ids.every((id) => ALLOWED.has(id))) return [];
    return [`${name}@${version} is licensed under ${license ?? 'nothing that it names'}`];
  });
}

export const checkLicenses = (): string[] => disallowed(shippedPackages());
