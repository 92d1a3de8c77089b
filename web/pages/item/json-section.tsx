import { Body } from '../../components/body/body.tsx';
import { Section } from '../../components/page.tsx';

/** A value that the API takes and gives as it is, such as an item's body. */
export function JsonSection({ title, value }: { title: string; value: unknown }) {
  return (
    <Section title={title}>
      <div class="panel-body">
        <Body value={value} />
      </div>
    </Section>
  );
}
