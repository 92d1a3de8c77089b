import { session } from '../../api/session.ts';

/** Applications read tasks; producers and administrators make them. */
export const mayWrite = () => session.value?.role === 'admin' || session.value?.role === 'producer';
