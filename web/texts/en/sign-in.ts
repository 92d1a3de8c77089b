/** The sign-in page. */
export const signIn = {
  title: 'Sign in',
  provider: (host: string) => `Sign in at ${host}`,
  lead: 'This server asks for a key. It is exchanged once for a session of this browser.',
  key: 'Key',
  hint: 'It begins with docket_',
  submit: 'Sign in',
  wrong: 'This key is unknown, revoked, or has run out.',
  getOne: 'An administrator makes keys:',
};
