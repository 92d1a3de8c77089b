/** The URLs of each host of a database URL, which may name several: `postgres://user@one:5432,two:5432/database`. */
export function urlsOf(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = /^(postgres(?:ql)?:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/.exec(url) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => start + host + rest) : [url];
}
