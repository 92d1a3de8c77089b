import { get } from '../api/client.ts';
import { useResource } from '../api/resource.ts';
import { Field } from './field.tsx';

const MOST = 500;

interface Props {
  label: string;
  /** Empty: not chosen yet. */
  value: string;
  set: (queue: string) => void;
}

/** Chooses one of the queues of tickets that exist and that the key may see. */
export function QueuePicker({ label, value, set }: Props) {
  const query = { limit: MOST };
  const known = useResource((signal) => get('/v1/queues', { query }, signal), []);
  return (
    <Field label={label}>
      {(field) => (
        <select {...field} required value={value} onChange={(event) => set(event.currentTarget.value)}>
          {['', ...(known.data?.items ?? []).map(({ name }) => name)].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
