import { signal } from '@preact/signals';
import { hostsIn } from './allowed.ts';

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
