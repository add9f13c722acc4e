import { Component } from "preact";

interface FeedProps {
  readonly onFeed: (feed: HTMLElement) => void;
}

/** The transcript's element. Rendered once and never again: what is inside belongs to the transcript. */
export class Feed extends Component<FeedProps> {
  #feed: HTMLElement | null = null;

  override componentDidMount(): void {
    if (this.#feed !== null) this.props.onFeed(this.#feed);
  }

  override shouldComponentUpdate(): boolean {
    return false;
  }

  override render() {
    return (
      <div
        class="feed"
        ref={(element) => {
          this.#feed = element;
        }}
      />
    );
  }
}
