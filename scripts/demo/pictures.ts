import { readFileSync } from 'node:fs';

// Pictures and a video for posts, made for this demo. They stand in the bodies, as no host has to be allowed for that.

const svg = (parts: string) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 200">${parts}</svg>`)}`;

export const PHONES = svg(`<rect width="320" height="200" fill="#f4d35e"/>
<g transform="rotate(-8 90 100)"><rect x="50" y="30" width="80" height="140" rx="12" fill="#1d2d44"/>
<rect x="56" y="42" width="68" height="112" fill="#8ecae6"/><circle cx="90" cy="162" r="4" fill="#f0f0f0"/></g>
<text x="160" y="95" font-family="sans-serif" font-size="44" font-weight="bold" fill="#c1121f">-50 %</text>
<text x="160" y="130" font-family="sans-serif" font-size="22" fill="#1d2d44">only today</text>`);

export const BAG =
  svg(`<rect width="320" height="200" fill="#e9e5dc"/><ellipse cx="160" cy="176" rx="110" ry="10" fill="#c9c2b4"/>
<path d="M120 84c0-60 80-60 80 0" fill="none" stroke="#6b3e26" stroke-width="9"/>
<path d="M78 82h164l16 92H62z" fill="#9c5b33"/><path d="M70 126h180l2 10H68z" fill="#7d4526"/>
<rect x="146" y="118" width="28" height="26" rx="4" fill="#d9b44a"/>`);

export const SUNSET = svg(`<defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="#27408b"/>
<stop offset="1" stop-color="#f7b267"/></linearGradient></defs><rect width="320" height="132" fill="url(#s)"/>
<circle cx="190" cy="116" r="34" fill="#ffe08a"/><rect y="132" width="320" height="68" fill="#123a5a"/>
<path d="M160 146h60M150 160h80M166 174h48" stroke="#ffe08a" stroke-width="4" opacity=".6"/>
<path d="M0 200v-46h320v8H14v38zM40 162v38M90 162v38M140 162v38M190 162v38M240 162v38M290 162v38" fill="#1d1d1f" stroke="#1d1d1f" stroke-width="4"/>`);

/** Four seconds of a boat before a sunset. */
export const BOAT = `data:video/webm;base64,${readFileSync(new URL('clip.webm', import.meta.url)).toString('base64')}`;
