import { useEffect, useState } from 'preact/hooks';
import { useAttempt } from '../../api/attempt.ts';
import { get } from '../../api/client.ts';
import { signIn } from '../../api/signing.ts';
import { Field } from '../../components/field.tsx';
import { Button, Page, ProblemNote, submitting } from '../../components/page.tsx';
import { texts } from '../../texts/texts.ts';
import './sign-in.css';

/** Exchanges a key for a session. Shown at every address while there is none, so that one goes on where one was. */
export function SignIn() {
  const t = texts.value.signIn;
  const [key, setKey] = useState('');
  const { busy, problem, attempt } = useAttempt();
  const isWrong = problem?.code === 'unauthenticated' || problem?.code === 'invalid_request';
  return (
    <div class="sign-in panel">
      <Page title={t.title}>
        <Provider />
        <p>{t.lead}</p>
        <form onSubmit={submitting(() => attempt(() => signIn(key.trim())))}>
          <Field label={texts.value.keys.key} hint={t.hint} error={isWrong ? t.wrong : undefined}>
            {(field) => (
              <input
                {...field}
                type="password"
                name="key"
                autocomplete="current-password"
                spellcheck={false}
                required
                value={key}
                onInput={(event) => setKey(event.currentTarget.value)}
              />
            )}
          </Field>
          {problem && !isWrong && <ProblemNote problem={problem} />}
          <Button does={t.title} look="primary" disabled={busy} />
        </form>
        <p class="hint">
          {t.getOne} <code>npx docket key create --role reviewer --subject anna</code>
        </p>
      </Page>
    </div>
  );
}

/** The way to sign in without a key, where there is one. */
function Provider() {
  const t = texts.value.signIn;
  const [issuer, setIssuer] = useState<string | null>(null);
  useEffect(() => {
    // without an answer there is the key
    get('/v1/sign-in', {}).then(
      ({ openId }) => setIssuer(openId?.issuer ?? null),
      () => {},
    );
  }, []);
  if (!issuer) return null;
  const to = location.pathname + location.search + location.hash;
  return (
    <p class="sign-in-provider">
      <Button
        does={t.provider(new URL(issuer).host)}
        run={() => location.assign(`/sign-in/openid?to=${encodeURIComponent(to)}`)}
        look="primary"
      />
    </p>
  );
}
