import { mayAct } from '../../api/session.ts';
import { READERS } from '../../links.ts';
import type { Link } from './alerts.ts';

/** A name that leads to what it names, where the session's role may read that. */
export const Linked = ({ text, path, kind }: Link) =>
  kind && !mayAct(...READERS[kind]) ? text : <a href={path}>{text}</a>;
