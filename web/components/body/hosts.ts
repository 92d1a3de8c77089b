import { signal } from '@preact/signals';

/** From where this page may show images, as its policy names them: `images.example.com`, `https://*.example.com`. */
export const imageHosts = signal<readonly string[]>([]);

let asked: Promise<void> | undefined;

/** The server's setting stands in the policy that this page was served with, which is what the browser goes by. */
export function learnImageHosts(): Promise<void> {
  asked ??= fetch(location.pathname, { method: 'HEAD' }).then(
    ({ headers }) => {
      imageHosts.value = hostsIn(headers.get('content-security-policy') ?? '');
    },
    () => {
      asked = undefined;
    },
  );
  return asked;
}

/** The hosts from which a Content-Security-Policy allows images, beside the page's own. */
export function hostsIn(policy: string): string[] {
  const images = policy.split(';').find((part) => part.trim().startsWith('img-src '));
  const sources = images?.trim().split(/\s+/).slice(1) ?? [];
  return sources.filter((source) => !/^'|:$/.test(source));
}

/** Whether a policy with these hosts lets a page show the image. What stands in a body itself asks no host. */
export const isAllowed = (url: URL, hosts: readonly string[], page: { protocol: string }): boolean =>
  url.protocol === 'data:' || hosts.some((host) => fits(url, host, page));

function fits(url: URL, host: string, page: { protocol: string }): boolean {
  const {
    scheme,
    name = '',
    port,
  } = /^((?<scheme>https?):\/\/)?(?<name>[^:]+)(:(?<port>\d+))?$/.exec(host)?.groups ?? {};
  const wanted = scheme ? `${scheme}:` : page.protocol;
  // what is allowed over http is allowed over https too
  if (url.protocol !== wanted && url.protocol !== 'https:') return false;
  const standard = url.protocol === 'https:' ? '443' : '80';
  if ((url.port || standard) !== (port ?? standard)) return false;
  const lower = name.toLowerCase();
  return lower.startsWith('*.') ? url.hostname.endsWith(lower.slice(1)) : url.hostname === lower;
}
