import ipaddr from 'ipaddr.js';

type Network = [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** A host by its name, or a network; on all ports or on one. */
type Place = { port: number | null } & ({ name: string } | { network: Network });

/** Places outside of the public internet to which callbacks may go. */
export interface PrivateHosts {
  /** Everywhere; the list is empty then. */
  all: boolean;
  places: readonly Place[];
}

/** The message for a value of another form. */
const FORM = 'must be 0, 1, or hosts, host:port and networks, separated by commas (hooks.internal,10.1.0.0/16)';

const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[^\s:/[\]@?#%\\]+)(?::(\d{1,5}))?$/i;
const NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;
/** Words that are meant as 0 or 1, but could be names of hosts. */
const SWITCH_WORDS = /^(true|false|yes|no|on|off|all|any|none)$/i;

/**
 * Reads a list of places; `0` permits none, `1` all of them.
 * @throws Error with the fault, without the name of the setting or the value
 */
export function parsePrivateHosts(text: string): PrivateHosts {
  if (text === '0' || text === '1') return { all: text === '1', places: [] };
  const entries = text.split(',').map((entry) => entry.trim());
  const written = entries.filter((entry) => entry !== '');
  if (written.length === 0) throw new Error(FORM);
  return { all: false, places: written.map((entry) => (entry.includes('/') ? networkOf(entry) : hostOf(entry))) };
}

function networkOf(entry: string): Place {
  const isV4 = ipaddr.IPv4.isValidCIDRFourPartDecimal(entry);
  if (!isV4 && !ipaddr.IPv6.isValidCIDR(entry)) throw new Error(FORM);
  const network = ipaddr.parseCIDR(entry);
  const [address, bits] = network;
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress())
    throw new Error(`must name networks of IPv4 as such (10.1.0.0/16), which ${entry} does not`);
  const first = (isV4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(entry).toString();
  if (first !== address.toString())
    throw new Error(`must name each network by its first address (${first}/${bits} for ${entry})`);
  return { network, port: null };
}

function hostOf(entry: string): Place {
  if (ipaddr.IPv6.isValid(entry)) return { network: single(entry), port: null };
  const [, written = '', digits] = HOST_AND_PORT.exec(entry) ?? [];
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && (port < 1 || port > 65_535))
    throw new Error(`must name ports from 1 to 65535, which ${entry} does not`);
  if (!URL.canParse(`http://${written}/`) || SWITCH_WORDS.test(written)) throw new Error(FORM);
  const host = hostOfUrl(new URL(`http://${written}/`));
  // 10.1 and 1 are addresses to a URL parser, but hardly meant as such
  if (ipaddr.IPv4.isValid(host) && !ipaddr.IPv4.isValidFourPartDecimal(written)) throw new Error(FORM);
  if (ipaddr.isValid(host)) return { network: single(host), port };
  if (!NAME.test(host)) throw new Error(FORM);
  return { name: host, port };
}

function single(text: string): Network {
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** A URL's host for comparisons: without brackets and without the dot of the root. */
export const hostOfUrl = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

/**
 * Whether the list permits a URL: by its host's name, or by one of the addresses that the name has.
 * @param address of the host; left out: only the name is asked for
 */
export function permits({ all, places }: PrivateHosts, url: URL, address?: string): boolean {
  if (all) return true;
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const host = hostOfUrl(url);
  const plain = address === undefined ? undefined : ipaddr.process(address);
  return places.some((place) => {
    if (place.port !== null && place.port !== port) return false;
    if ('name' in place) return place.name === host;
    return plain !== undefined && isIn(plain, place.network);
  });
}

/** Whether it has networks, so that private names must be resolved before they are refused. */
export const hasNetworks = ({ places }: PrivateHosts): boolean => places.some((place) => 'network' in place);

/** The cast is true of neither or both: only addresses of one kind are compared. */
const isIn = (address: Network[0], [network, bits]: Network): boolean =>
  address.kind() === network.kind() && (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits);
