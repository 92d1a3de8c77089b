import { Json } from '../../components/json.tsx';
import { Section } from '../../components/page.tsx';

/** A value that the API takes and gives as it is, such as an item's body. */
export function JsonSection({ title, value }: { title: string; value: unknown }) {
  return (
    <Section title={title}>
      <div class="panel-body">
        <Json value={value} />
      </div>
    </Section>
  );
}
