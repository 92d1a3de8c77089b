import { Component, type ComponentChildren } from 'preact';
import { texts } from '../texts/texts.ts';

interface Props {
  /** Where it happened; a fault of one page is none of the next. */
  place: string;
  children: ComponentChildren;
}

/** Shows what went wrong in a page in place of it, and keeps the frame around it. */
export class Boundary extends Component<Props, { error: Error | null }> {
  override state = { error: null as Error | null };

  override componentDidCatch(error: Error): void {
    this.setState({ error });
    // for the browser's console, and for tests, which fail by it
    reportError(error);
  }

  override componentDidUpdate(before: Props): void {
    if (before.place !== this.props.place && this.state.error) this.setState({ error: null });
  }

  override render({ children }: Props, { error }: { error: Error | null }) {
    if (!error) return children;
    const t = texts.value.shell;
    return (
      <div class="note bad" role="alert">
        <h1 tabIndex={-1}>{t.crashed}</h1>
        <p>{t.crashedHint}</p>
        <pre>{error.message}</pre>
        <button type="button" onClick={() => location.reload()}>
          {t.reload}
        </button>
      </div>
    );
  }
}
