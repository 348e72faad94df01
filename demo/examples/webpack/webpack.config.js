import HtmlWebpackPlugin from 'html-webpack-plugin';

export default {
  plugins: [new HtmlWebpackPlugin({ template: 'src/index.html' })],
};
